package client

import "testing"

func TestParseAddress(t *testing.T) {
	for s, want := range map[string]Address{
		"example.org:13013":         {Host: "example.org:13013"},
		"example.org:13013/project": {Host: "example.org:13013", Repo: "project"},
		"127.0.0.1:39731":           {Host: "127.0.0.1:39731", Local: true},
		"https://127.0.0.1:39731":   {Host: "127.0.0.1:39731", Local: true},
		"[::1]:1/x.git":             {Host: "[::1]:1", Repo: "x", Local: true},
		"h:1#tdj_a~ab-_cd":          {Host: "h:1", Invite: "tdj_a", Fingerprint: "SHA256:ab+/cd"},
		"h:1/r#tdj_a":               {Host: "h:1", Repo: "r", Invite: "tdj_a"},
	} {
		got, err := ParseAddress(s)
		if err != nil || got != want {
			t.Errorf("ParseAddress(%q) = %+v, %v; want %+v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "example.org", ":1", "h:", "h:1/a/b"} {
		if _, err := ParseAddress(s); err == nil {
			t.Errorf("ParseAddress(%q) succeeded", s)
		}
	}
}
