package proof

import (
	"encoding/json"
	"strings"
	"testing"
)

// A space is reached through a tunnel of tandem share: codes carry its name, a
// member elsewhere joins through it and checks its certificate, a dropped tunnel
// is noticed, and under a new name the space is found again.
func TestASpaceThroughATunnel(t *testing.T) {
	x := newShared(t, map[string]string{"cloudflared": standInCloudflared})
	far := newServer(t)
	far.env = append(far.env, "HTTPS_PROXY="+x.proxy, "SSL_CERT_FILE="+x.ca)
	far.start()
	x.must("space", "rename", "near")
	far.must("space", "rename", "far")
	x.share("--mode", "quick")
	var made struct{ Code string }
	if err := json.Unmarshal([]byte(x.must("space", "create", "wide", "--json")), &made); err != nil ||
		!strings.HasSuffix(made.Code, "@quick-words-1.trycloudflare.com") {
		t.Fatalf("the code is %q, %v", made.Code, err)
	}
	if out := far.must("space", "join", made.Code); !strings.Contains(out, `Connected to "wide" as far!`) {
		t.Fatal(out)
	}
	far.must("space", "send", "from far away")
	if out := x.must("space", "inbox"); !strings.Contains(out, "from far away") {
		t.Error(out)
	}
	// nothing else of the machine is there
	for _, path := range []string{"/space/hosted", "/space/create", "/space/post", "/panel/"} {
		if status, _ := x.do(t, "POST", "https://quick-words-1.trycloudflare.com"+path, apiToken, "{}"); status != 404 {
			t.Errorf("%s answers %d through the tunnel", path, status)
		}
	}

	x.must("share", "stop")
	x.eventually("the member notices", func() bool { return strings.Contains(far.must("space", "send", "waits here"), "Not sent yet") })
	x.share("--mode", "quick")
	if out := far.must("space", "rejoin", "--host", "quick-words-2.trycloudflare.com"); !strings.Contains(out,
		`Reconnected to "wide" as far!`) {
		t.Fatal(out)
	}
	x.eventually("what waited arrives", func() bool { return strings.Contains(x.must("space", "inbox", "--all"), "waits here") })
	if out := x.must("space", "verify"); !strings.Contains(out, "entries hold") {
		t.Error(out)
	}
}
