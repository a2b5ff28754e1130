# What an observation does not cover, and why.
missed-cell = { $columns ->
    [one] { $kind } at 1 column
   *[other] { $kind } at { $columns } columns
}
missed-code-object = the code object
missed-contradicted = { $place } names { $says }, but e_flags name { $flags }
missed-cut-off = truncated by the end of the code
missed-device = the device of process { $pid }
missed-dispatches-after = later dispatches of the program
missed-ended = the program ended with exit code { $code }
missed-fatbin = a fatbin
missed-file = the file
missed-grids = grids that depend on occupancy
missed-grids-near = the library has no code for { $target }; metadata of { $near } was used. Only the host's choice is known
missed-grids-none = the library has no code for { $target }, and no metadata of a similar target was found. Only the host's choice is known
missed-in-container = { $target } in container { $container }
missed-interrupted = the program was interrupted by signal { $signal }
missed-killed = the program was killed by signal { $signal }
missed-launches-after = later launches of the program
missed-launches-in = { $count ->
    [one] 1 launch of a kernel in { $file }
   *[other] { $count } launches of kernels in { $file }
}
missed-layer = not visible to the layer
missed-names = names
missed-names-why = { $count ->
    [one] 1 launch of a function without a known name
   *[other] { $count } launches of functions without a known name
}
missed-no-call = the stand-in does not implement this call
missed-no-fatbin = this is neither a fatbin container nor padding
missed-no-instruction = this is not an instruction of this processor
missed-no-product = no product of this type and width was observed
missed-not-searched = not searched for embedded code objects
missed-opaque = not readable: { $what }
missed-other-targets = the file contains code for { $targets }, but none for { $target }
missed-refused = refused ({ $status })
missed-replays = graph launches
missed-replays-why = { $count ->
    [one] 1 replay of a graph whose nodes are not all known
   *[other] { $count } replays of graphs whose nodes are not all known
}
missed-rest-of-file = the rest of the file
missed-rest-of-run = the rest of the run
missed-symbols = symbols
missed-targets-unread = the file could not be read, so it is unknown whether it contains code for the device
