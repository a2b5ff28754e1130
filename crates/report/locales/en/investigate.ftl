# investigate
investigate-looked = Looked with: { $list }
investigate-seen = { $seen } seen, { $new } new
investigate-blocked = could not look
investigate-no-observers = No observer in this build could look.
investigate-nothing = Nothing of it could be confirmed or refuted with what is on this machine.
investigate-open = Open: { $claims } claims, { $questions } questions ({ $why })
