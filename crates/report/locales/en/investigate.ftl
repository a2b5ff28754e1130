# investigate
investigate-looked = Looked with: { $list }
investigate-seen = { $seen } seen, { $new } new
investigate-blocked = could not look
investigate-no-observers = No observer in this build could look.
investigate-nothing = Nothing of it could be confirmed or refuted with what is on this machine.
investigate-open = Open: { $claims } claims, { $questions } questions ({ $why })
investigate-could-fetch = No runtime with GPU code is here: what is shipped and selected stays open. `{ $command }` fetches Debian's llama.cpp for ROCm (about 125 MB).
investigate-not-fetched = The runtime could not be fetched: { $why }
