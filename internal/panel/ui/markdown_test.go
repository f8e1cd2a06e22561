package ui

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"
)

func markdown(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	if err := Markdown(s).Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `<div class="md" dir="auto">`), `</div>`)
}

func TestMarkdownIsRead(t *testing.T) {
	for in, want := range map[string]string{
		"one\ntwo\n\nthree":          "<p>one\ntwo</p><p>three</p>",
		"a **b** *c* `d*e` ~~f~~":    "<p>a <strong>b</strong> <em>c</em> <code>d*e</code> <del>f</del></p>",
		"snake_case_name, 2 * 3 * 4": "<p>snake_case_name, 2 * 3 * 4</p>",
		"## What\ntext":              `<p class="md-head md-head-2">What</p><p>text</p>`,
		"- a\n- b\n  - c\n\ntext":    "<ul><li><p>a</p></li><li><p>b</p><ul><li><p>c</p></li></ul></li></ul><p>text</p>",
		"1. a\n2. b":                 "<ol><li><p>a</p></li><li><p>b</p></li></ol>",
		"> said\n> so":               `<blockquote class="md-quote"><p>said` + "\n" + `so</p></blockquote>`,
		"```go\nx := <-c\n```\nend":  `<pre class="md-code" tabindex="0"><code>x := &lt;-c</code></pre><p>end</p>`,
		"a\n\n---\n\nb":              "<p>a</p><hr><p>b</p>",
		"| a | b |\n|---|---|\n| 1 | 2 |": `<div class="md-table" tabindex="0" role="group" aria-label="Table"><table><thead>` +
			`<tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></div>`,
		"[docs](https://x.example/a?b=1&c=2)": `<p><a class="out" href="https://x.example/a?b=1&amp;c=2" rel="noopener noreferrer nofollow" ` +
			`target="_blank">docs (x.example)</a></p>`,
		"see https://x.example/a.": `<p>see <a class="out" href="https://x.example/a" rel="noopener noreferrer nofollow" ` +
			`target="_blank">https://x.example/a</a>.</p>`,
		`\*no\*`: "<p>*no*</p>",
	} {
		if got := markdown(t, in); got != want {
			t.Errorf("%q:\n got %s\nwant %s", in, got, want)
		}
	}
}

// Whatever an agent writes, no element but the listed ones comes of it, nothing
// is fetched, no address but a web address is a link, and nothing hides.
func TestMarkdownIsSafe(t *testing.T) {
	allowed := regexp.MustCompile(`^</?(p|strong|em|del|code|pre|ul|ol|li|blockquote|hr|div|table|thead|tbody|tr|th|td|a|span)( ` +
		`(class|dir|tabindex|role|` +
		`aria-label|href|rel|target|title)="[^"<>]*")*>$`)
	tag := regexp.MustCompile(`<[^>]*>`)
	href := regexp.MustCompile(`href="([^"]*)"`)
	evil := []string{
		`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, "<svg/onload=alert(1)>", `<a href="javascript:alert(1)">x</a>`,
		`[x](javascript:alert(1))`, `[x](JaVaScRiPt:alert(1))`, "[x](java\tscript:alert(1))", `[x](data:text/html,<script>alert(1)</script>)`,
		`[x](//evil.example/a)`, `[x](/panel/actors)`, `[x](https://owner@evil.example/)`, `[x](https://p` + "\u0430" + `ypal.example/)`,
		`[x](https://a.example/" onmouseover="alert(1))`, "[x](https://a.example/'onclick='alert(1))", `![x](https://evil.example/p.png)`,
		`![x" onerror="alert(1)](https://evil.example/p.png)`, "`<img src=x>`", "```\n</code></pre><script>alert(1)</script>\n```",
		"```\"><img src=x onerror=alert(1)>\nx\n```", "| <img src=x> | b |\n|---|---|\n| <script> | \" onclick=\" |", "> <iframe src=x>",
		"- <object data=x>", "# <style>*{}</style>", "**<b onclick=x>**", "a\u202eb\u200bc\x1b[2J", "https://a.example/\u202etxt.exe",
		`<https://a.example/"onx=1>`, "[[x](https://a.example)](javascript:alert(1))", "&lt;img src=x&gt;", "&#106;avascript:alert(1)",
	}
	for _, s := range append(evil, strings.Join(evil, " "), strings.Join(evil, "\n")) {
		got := markdown(t, s)
		for _, el := range tag.FindAllString(got, -1) {
			if !allowed.MatchString(el) {
				t.Errorf("%q made %s", s, el)
			}
		}
		for _, h := range href.FindAllStringSubmatch(got, -1) {
			if !strings.HasPrefix(h[1], "https://a.example") && !strings.HasPrefix(h[1], "https://evil.example/p.png") {
				t.Errorf("%q links to %s", s, h[1])
			}
		}
		if strings.ContainsAny(got, "\u202e\u200b\x1b") {
			t.Errorf("%q hides something", s)
		}
	}
	for _, s := range []string{strings.Repeat("*", 200000), strings.Repeat("[", 200000), strings.Repeat("> ", 50000) + "x",
		strings.Repeat("`a", 100000), strings.Repeat("**a ", 50000), strings.Repeat("  - a\n", 20000), strings.Repeat("|a", 50000)} {
		begun := time.Now()
		markdown(t, s)
		if took := time.Since(begun); took > 20*time.Second { // a second or two on a busy machine; minutes when it grows by the square
			t.Errorf("%.20q… took %v", s, took)
		}
	}
}
