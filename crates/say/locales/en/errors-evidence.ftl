evidence-investigation-error = { $file }:{ $line }:{ $column }: { $what }
evidence-no-real-device = { $observer }: the rung '{ $rung }' needs a real device, and the subject's device is '{ $device }'; what a stand-in is asked to launch is recorded as 'selected'
evidence-no-topic = { $observer }: the fact has no topic
evidence-not-finite = { $observer }: a number of the fact '{ $topic }' is not finite
evidence-no-observer = the observer has no name
