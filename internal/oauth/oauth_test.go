package oauth

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
)

// The panel got a name of its own for each installation; programs that registered at 127.0.0.1 know the issuer under that address, and
// refuse an answer of another one.
func TestTheIssuerIsWhereTheProgramCame(t *testing.T) {
	for host, want := range map[string]string{"127.0.0.1:39731": "http://127.0.0.1:39731", "[::1]:39731": "http://[::1]:39731",
		"build.example": "https://build.example"} {
		r := httptest.NewRequest("GET", "/.well-known/oauth-authorization-server", nil)
		r.Host = host
		w := httptest.NewRecorder()
		(&Door{}).server(w, r)
		var got struct {
			Issuer    string `json:"issuer"`
			Authorize string `json:"authorization_endpoint"`
			Register  string `json:"registration_endpoint"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Issuer != want || got.Authorize != want+"/oauth/authorize" || got.Register != want+"/oauth/register" {
			t.Errorf("at %s: %+v", host, got)
		}
	}
}
