certify-give-program = -- の後にプログラムを指定してください
certify-answered-before = { $url } では、以前から動いているサーバーが応答しています
certify-other-port = そのサーバーを止めるか、プログラムに別のポートを指定してください
certify-no-answer = リクエストが完了しませんでした
