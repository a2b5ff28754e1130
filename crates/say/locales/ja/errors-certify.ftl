certify-give-program = -- の後にプログラムを指定してください
certify-answered-before = { $url } には以前から動いているサーバーがすでに応答しています
certify-other-port = そのサーバーを止めるか、プログラムに別のポートを指定してください
certify-no-answer = 要求が完了しませんでした
