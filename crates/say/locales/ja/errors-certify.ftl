certify-give-program = -- の後にプログラムを指定してください
certify-answered-before = { $url } では、すでに別のサーバーが応答しています
certify-other-port = そのサーバーを止めるか、プログラムに別のポートを指定してください
certify-no-answer = リクエストが完了しませんでした
