# investigate
