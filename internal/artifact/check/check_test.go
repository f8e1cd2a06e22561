package check

import (
	"strings"
	"testing"
)

// Each check lets what is right pass, and says what is wrong with the rest.
func TestChecks(t *testing.T) {
	for _, one := range []struct {
		check, kind, text, want string // want is part of what is said; "" is nothing
	}{
		{"sections", "markdown", "# Summary\nx\n## risks ##\n", ""},
		{"sections", "markdown", "# Summary\nRisks\n", `"Risks" is missing`},
		{"sections", "html", "<h1>Summary</h1><h2 class=x>Ri<b>sks</b></h2>", ""},
		{"citations", "markdown", "It grew [1].\n\n[1] Report https://example.com/r\n", ""},
		{"citations", "markdown", "It grew [^2].\n\n[^2]: see docs/report.md:12\n", ""},
		{"citations", "markdown", "It grew.", "nothing is cited"},
		{"citations", "markdown", "It grew [1].\n", "[1] is cited"},
		{"citations", "markdown", "It grew [1].\n\n[1] somebody said so\n", "leads nowhere"},
		{"citations", "markdown", "It grew.\n\n[1] Report https://example.com/r\n", "nothing is cited"},
		{"no-secrets", "markdown", "the key is in the vault; sk-short; AKIA is a prefix", ""},
		{"no-secrets", "markdown", "AKIA" + "ABCDEFGHIJKLMNOP", "an AWS key"},
		{"no-secrets", "json", `{"k": "-----BEGIN RSA PRIVATE` + ` KEY-----"}`, "a private key"},
		{"no-secrets", "csv", "postgres://me:hunter22@db/x", "a password in URL"},
		{"no-secrets", "csv", "taught", "kept here"},
		{"no-active-content", "html", `<p style="color:red">on = 1</p><svg><rect/></svg><img src="data:image/png;base64,AA==">` +
			`<a href="https://x.example">x</a>`, ""},
		{"no-active-content", "html", "<ScRipt>", "a script"},
		{"no-active-content", "html", "<img src=x onerror=alert(1)>", "an event handler"},
		{"no-active-content", "html", `<svg/onload=alert(1)>`, "an event handler"},
		{"no-active-content", "html", `<a href="javascript:alert(1)">`, "runs code"},
		{"no-active-content", "html", `<img src="https://x.example/p.png">`, "from elsewhere"},
		{"no-active-content", "markdown", `![](https://x.example/p.png)`, "from elsewhere"},
		{"no-active-content", "html", `<meta http-equiv="refresh" content="0">`, "sends away"},
	} {
		w := Want{Checks: []string{one.check}, Sections: []string{"Summary", "Risks"}}
		got := strings.Join(Look(one.kind, one.text, len(one.text), w, func(s string) bool { return s == "taught" }), "; ")
		if (one.want == "") != (got == "") || !strings.Contains(got, one.want) {
			t.Errorf("%s of %q says %q, not %q", one.check, one.text, got, one.want)
		}
		if strings.Contains(got, "ABCDEFGHIJ") || strings.Contains(got, "hunter22") {
			t.Errorf("it tells the secret: %s", got)
		}
	}
	if got := Look("csv", "abc", 3, Want{Max: 2}, nil); len(got) != 1 || !strings.Contains(got[0], "3 bytes; 2") {
		t.Errorf("too large: %q", got)
	}
}
