package panel

import "net/http"

// csp allows what the panel's own files need and nothing else: no inline
// script or style, no eval, no other origin, no frame around us.
const csp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secure sets the headers every answer of the panel carries.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", csp)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy",
		"camera=(), geolocation=(), microphone=(), payment=(), publickey-credentials-get=(self), publickey-credentials-create=(self)")
	h.Set("Cache-Control", "no-store")
}
