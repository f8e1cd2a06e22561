package opencode

import "testing"

func TestLoose(t *testing.T) {
	for _, c := range []struct {
		about string
		rules []rule
		want  string
	}{
		{"nothing is set: the program asks", nil, ""},
		{"all ask", []rule{asks}, ""},
		{"an earlier rule counts no more", []rule{{"bash", "*", "allow"}, asks}, ""},
		{"one that comes later does", []rule{asks, {"bash", "git *", "allow"}}, "bash"},
		{"the program's own default", []rule{{"*", "*", "allow"}}, "*"},
		{"a later rule for some patterns takes nothing back", []rule{{"*", "*", "allow"}, {"bash", "rm *", "ask"}}, "*"},
		{"all denied, then one allowed", []rule{{"*", "*", "deny"}, {"grep", "*", "allow"}}, "grep"},
		{"a folder is allowed, and the tool asks", []rule{asks, {"external_directory", "/x/*", "allow"}}, ""},
	} {
		got := ""
		if r := loose(c.rules); r != nil {
			got = r.Permission
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.about, got, c.want)
		}
	}
}
