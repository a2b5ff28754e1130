certify-give-program = give a program after --
certify-answered-before = { $url } is answered already, by a server that was there before
certify-other-port = stop it, or give the program another port
certify-no-answer = the request did not finish
