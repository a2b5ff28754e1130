inventory-not-a-file = { $path } is { $what }, not a file that can be read at offsets. Copy it to a file first
inventory-too-long = { $path } claims { $bytes } bytes: at most { $most } are read
