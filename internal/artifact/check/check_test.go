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
		{"no-secrets", "json", `{"text": "Found:\nAKIA` + `ABCDEFGHIJKLMNOP"}`, "an AWS key"},
		{"no-secrets", "json", `{"text": "a\u003cb", "n": 1}`, ""},
		{"no-active-content", "json", `{"html": "\u003cscript>alert(1)\u003c/script>"}`, "a script"},
		{"no-active-content", "json", `[{"\u003cimg src=x onerror=y>": 1}]`, "an event handler"},
		{"no-active-content", "json", `{"a": "<!--", "b": "<script>"}`, "a script"},
		{"sections", "json", `"# Summary\nx\n# Risks"`, ""},
		{"citations", "json", `{"text": "It grew [1].\n\n[1] Report https://example.com/r"}`, ""},
		{"no-active-content", "html", `<p>JavaScript: 12</p><svg aria-label="JavaScript: a bar chart"><text>JavaScript: 3</text></svg>`, ""},
		{"no-active-content", "html", `<title>a &lt;script&gt;</title><style>p { color: red }</style><a href="#s1">x</a>`, ""},
		{"no-active-content", "html", `<img alt=">" src=x onerror=alert(1)>`, "an event handler"},
		{"no-active-content", "html", `<a href="java&#115;cript:alert(1)">`, "runs code"},
		{"no-active-content", "html", "<a href='java\tscript:alert(1)'>", "runs code"},
		{"no-active-content", "html", `<svg><a xlink:href=" javascript:alert(1)">`, "runs code"},
		{"no-active-content", "html", `<svg><animate attributeName="href" values="x;javascript:alert(1)"/>`, "runs code"},
		{"no-active-content", "html", `<a href="data:text/html,x">`, "runs code"},
		{"no-active-content", "html", `<img src="&#104;ttps://x.example/p">`, "from elsewhere"},
		{"no-active-content", "html", `<img src="/\x.example/p">`, "from elsewhere"},
		{"no-active-content", "html", `<img srcset="a.png 1x, //x.example/p 2x">`, "from elsewhere"},
		{"no-active-content", "html", `<svg><image href="https://x.example/p"/></svg>`, "from elsewhere"},
		{"no-active-content", "html", `<p style="background: u\72l( 'https://x.example/p')">`, "from elsewhere"},
		{"no-active-content", "html", `<style>a { background: image-set("https://x.example/p" 1x) }</style>`, "from elsewhere"},
		{"no-active-content", "html", `<svg><style><img src=x onerror=y></style></svg>`, "an event handler"},
		{"no-active-content", "html", `<svg><title><script>alert(1)</script></title></svg>`, "a script"},
		{"no-active-content", "html", strings.Repeat("<title>", 1000), "too deep"},
		{"no-active-content", "markdown", "JavaScript: 12, see [docs](https://x.example) and ![here](a.png)", ""},
		{"no-active-content", "markdown", "[x](javascript:alert(1))", "runs code"},
		{"no-active-content", "markdown", "[x]( <java&#115;cript:alert(1)>)", "runs code"},
		{"no-active-content", "markdown", "[x][r]\n\n[r]: javascript:alert(1)", "runs code"},
		{"no-active-content", "markdown", "![a[b]](https://x.example/p)", "from elsewhere"},
		{"no-active-content", "markdown", "![a`[`](https://x.example/p)", "from elsewhere"},
		{"no-active-content", "markdown", "![a`]`](https://x.example/p)", "from elsewhere"},
		{"no-active-content", "markdown", "![x][r]\n\n[r]: https://x.example/p", "from elsewhere"},
		{"no-active-content", "markdown", "[x][r]\n\n[r]: https://x.example/p", ""},
		{"no-active-content", "csv", "a,b\n1,-2\n", ""},
		{"no-active-content", "csv", "a,b\n1,=1+1\n", "a formula"},
		{"no-active-content", "csv", "a;=1+1\n", "a formula"},
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
