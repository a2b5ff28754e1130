# Of nearly every error: the file or step, and what went wrong
about-why = { $what }: { $why }
about-fixed = { $what }: { $why }
    {"  "}fix: { $fix }
about-both = { $one }; { $other }
about-reason = { $what } ({ $why })
