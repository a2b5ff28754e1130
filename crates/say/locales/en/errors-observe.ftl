observe-several = { $file } has code for { $targets }: say which with --target-a and --target-b
observe-process-gone = there is no process { $pid }
observe-process-refused = process { $pid } ({ $name }) belongs to another user, so /proc/{ $pid }/{ $what } may not be read: run as that user or as root
observe-process-io = /proc/{ $pid }/{ $what }: { $source }
observe-process-empty = process { $pid } ({ $name }) maps no file: it is a kernel thread, or has ended
observe-shipped-refused = what was seen cannot be recorded: { $value }
