evidence-investigation-error = { $file }:{ $line }:{ $column }: { $what }
evidence-no-real-device = { $observer }: 段 '{ $rung }' には実機が必要ですが、対象のデバイスは '{ $device }' です。代役に求められた起動は 'selected' として記録されます
evidence-no-topic = { $observer }: 事実に話題がありません
evidence-not-finite = { $observer }: 事実 '{ $topic }' の数値が有限ではありません
evidence-no-observer = 観測手段に名前がありません
