about-why = { $what }: { $why }
about-fixed = { $what }: { $why }
    {"  "}対処: { $fix }
about-both = { $one }。{ $other }
about-reason = { $what }（{ $why }）
