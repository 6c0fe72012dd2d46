package attempt_test

import "net/http"

func redirect(to string) http.Handler { return http.RedirectHandler(to, http.StatusFound) }
