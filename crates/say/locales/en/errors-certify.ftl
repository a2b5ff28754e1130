certify-give-program = specify a program after --
certify-answered-before = another server is already answering at { $url }
certify-other-port = stop that server, or give the program another port
certify-no-answer = the request did not finish
