about-why = { $what }: { $why }
