package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/internal/fault"
)

const plain = `s3cr3t/"key"+<v&l>=é`

const pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nKcwggSjAgEAAoIBAQDHv1x2c3RyaW5n\n-----END PRIVATE KEY-----\n"

type stringer struct{ s string }

func (s stringer) String() string { return "I am " + s.s }

type valuer struct{ s string }

func (v valuer) LogValue() slog.Value { return slog.GroupValue(slog.String("inside", v.s)) }

type document struct {
	Name  string
	Inner *document
	Raw   []byte
}

// A secret is logged in every way there is, by both handlers, and shows in
// none.
func TestNoWayOfLoggingShowsASecret(t *testing.T) {
	for _, value := range []string{plain, pem, "12345678901", "line one of it\r\nline two of it"} {
		first, _, _ := strings.Cut(strings.TrimPrefix(value, "-----BEGIN PRIVATE KEY-----\n"), "\n")
		first = strings.TrimSpace(first)
		wrapped := fmt.Errorf("call failed: %w", fault.New(fault.Denied, "x", "token %s is wrong", value).WithNext("not %s", value))
		ways := map[string]func(l *slog.Logger){
			"message":    func(l *slog.Logger) { l.Info("the value is " + value) },
			"attr":       func(l *slog.Logger) { l.Info("m", "k", value) },
			"key":        func(l *slog.Logger) { l.Info("m", value, 1) },
			"inside":     func(l *slog.Logger) { l.Info("m", "k", "before "+value+" after") },
			"group":      func(l *slog.Logger) { l.Info("m", slog.Group("g", slog.Group("h", "k", value))) },
			"with":       func(l *slog.Logger) { l.With("k", value).Info("m") },
			"with group": func(l *slog.Logger) { l.WithGroup("g").With("k", value).Info("m", "j", value) },
			"group name": func(l *slog.Logger) { l.WithGroup(value).Info("m", "k", 1) },
			"error":      func(l *slog.Logger) { l.Error("m", "err", errors.New("bad "+value)) },
			"wrapped":    func(l *slog.Logger) { l.Error("m", "err", wrapped) },
			"joined":     func(l *slog.Logger) { l.Error("m", "err", errors.Join(io.EOF, wrapped)) },
			"stringer":   func(l *slog.Logger) { l.Info("m", "k", stringer{value}) },
			"nil":        func(l *slog.Logger) { l.Info("m", "k", (*stringer)(nil), "v", value) },
			"log value":  func(l *slog.Logger) { l.Info("m", "k", valuer{value}) },
			"bytes":      func(l *slog.Logger) { l.Info("m", "k", []byte(value)) },
			"struct":     func(l *slog.Logger) { l.Info("m", "k", document{Name: value}) },
			"pointer":    func(l *slog.Logger) { l.Info("m", "k", &document{Inner: &document{Name: value}}) },
			"raw":        func(l *slog.Logger) { l.Info("m", "k", document{Raw: []byte(value)}) },
			"map":        func(l *slog.Logger) { l.Info("m", "k", map[string]any{"a": []string{value}}) },
			"map key":    func(l *slog.Logger) { l.Info("m", "k", map[string]int{value: 1}) },
			"json":       func(l *slog.Logger) { b, _ := json.Marshal(document{Name: value}); l.Info("m", "k", string(b)) },
			"json twice": func(l *slog.Logger) {
				b, _ := json.Marshal(value)
				c, _ := json.Marshal(string(b))
				l.Info("m", "k", string(c))
			},
			"raw json": func(l *slog.Logger) { b, _ := json.Marshal(value); l.Info("m", "k", json.RawMessage(b)) },
			"go syntax": func(l *slog.Logger) {
				l.Info(fmt.Sprintf("%q %#v %+v", value, document{Name: value}, stringer{value}))
			},
			"byte list": func(l *slog.Logger) { l.Info(fmt.Sprint([]byte(value))) },
			"base64":    func(l *slog.Logger) { l.Info("m", "k", base64.StdEncoding.EncodeToString([]byte(value))) },
			"basic auth": func(l *slog.Logger) {
				for _, user := range []string{"", "u", "us", "use"} {
					l.Info("m", "k", "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+value)))
					l.Info("m", "k", base64.RawURLEncoding.EncodeToString([]byte(user+":"+value+" tail")))
				}
			},
			"hex":   func(l *slog.Logger) { l.Info(hex.EncodeToString([]byte(value)) + fmt.Sprintf(" %X", value)) },
			"query": func(l *slog.Logger) { l.Info("GET /?token=" + url.QueryEscape(value)) },
			"path":  func(l *slog.Logger) { l.Info("GET /" + url.PathEscape(value)) },
			"lower": func(l *slog.Logger) { l.Info("GET /" + lowerEscapes(url.QueryEscape(value))) },
			"url": func(l *slog.Logger) {
				l.Info("m", "k", &url.URL{Host: "h", Path: value, RawQuery: url.QueryEscape(value)})
			},
			"userinfo": func(l *slog.Logger) {
				l.Info("m", "k", (&url.URL{Scheme: "http", Host: "h", User: url.UserPassword("u", value)}).String())
			},
			"first line": func(l *slog.Logger) { l.Info("m", "k", "> "+first) },
		}
		for name, log := range ways {
			for kind, make := range map[string]func(w io.Writer) slog.Handler{
				"text": func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
				"json": func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
			} {
				var out bytes.Buffer
				r := NewRedactor()
				r.Learn([]byte(value))
				log(slog.New(r.Handler(make(&out))))
				if !strings.Contains(out.String(), mark("")) && !strings.Contains(out.String(), url.QueryEscape(mark(""))) {
					t.Errorf("%s/%s: nothing was redacted in %s", name, kind, out.String())
				}
				for _, shape := range forms(value) {
					if len(shape) >= window && strings.Contains(out.String(), shape) {
						t.Errorf("%s/%s: %q shows in %s", name, kind, shape, out.String())
					}
				}
			}
		}
	}
}

func TestInnocentTextIsLeftAlone(t *testing.T) {
	r := NewRedactor()
	text := `{"a":"nothing to hide"}`
	if r.String(text) != text {
		t.Error("a redactor that knows nothing changed a text")
	}
	r.Learn([]byte("hunter2")) // too short to be learnt
	r.Learn([]byte(pem))
	for _, s := range []string{text, "hunter2", "-----BEGIN PRIVATE KEY-----", "", "short"} {
		if r.String(s) != s {
			t.Errorf("%q became %q", s, r.String(s))
		}
	}
	n := 7
	if v := r.value(slog.AnyValue(&n)); v.Any() != &n {
		t.Error("an innocent value was replaced")
	}
}

func TestErrorsKeepTheirKind(t *testing.T) {
	r := NewRedactor()
	r.Learn([]byte(plain))
	if err := fault.New(fault.Conflict, "x", "nothing here"); r.Error(err) != error(err) {
		t.Error("an innocent error was replaced")
	}
	cause := fmt.Errorf("open %s: %w", plain, fs.ErrNotExist)
	err := r.Error(fault.New(fault.Denied, "x", "no: %w", cause).WithNext("try %s", plain).With("k", plain))
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Denied || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%v lost its kind or its cause", err)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(fmt.Sprintf("%+v %#v", e.Error(), f.Data), plain) || strings.Contains(f.Next, plain) {
			t.Errorf("%v shows the secret", e)
		}
	}
	if err := r.Error(errors.Join(io.EOF, cause)); strings.Contains(err.Error(), plain) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestJSONStaysJSON(t *testing.T) {
	r := NewRedactor()
	r.Learn([]byte(plain))
	r.Learn([]byte(`":true,"`))
	for _, v := range []any{map[string]string{"a": plain}, []string{plain, plain + plain}, map[string]any{"x": true, "y": 1}} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if out := r.JSON(b); !json.Valid(out) || strings.Contains(string(out), `key\"`) {
			t.Errorf("%s became %s", b, out)
		}
	}
}

// Whoever may store a secret could once blank the journal: pieces of JSON's own text, stored as secrets, turned every later
// payload into one word. Only string values are struck, with the name of the secret, from the record of whoever stored it;
// a value that a person stored is struck from all. Words of the program itself stay.
func TestASecretDoesNotTakeARecordApart(t *testing.T) {
	r := NewRedactor()
	r.Ours("approval.decide")
	for _, v := range []string{`"door":"`, `"input":{`, `"facts":{`, `socket","`, "approval.decide", "resource"} {
		r.LearnAs("ten_a", "trap", []byte(v), "")
	}
	r.LearnAs("ten_a", "key", []byte("hunter2-hunter2"), "mallory")
	doc := `{"door":"socket","facts":{"resource":"a","n":12345678},"input":{"op":"approval.decide","text":"say hunter2-hunter2 \"loud\""}}`
	if got := string(r.For("ann").JSON([]byte(doc))); got != doc {
		t.Errorf("somebody else's record became %s", got)
	}
	want := strings.Replace(doc, "hunter2-hunter2", "[secret: key]", 1)
	if got := string(r.For("mallory").JSON([]byte(doc))); got != want {
		t.Errorf("the record became %s", got)
	}
	r.LearnAs("ten_a", "all", []byte("everybody's-own-key"), "")
	if got := r.For("ann").String("x everybody's-own-key y"); got != "x [secret: all] y" {
		t.Error(got)
	}
	r.Forget("ten_a", "all", r.Turn(), time.Now().Add(-time.Minute))
	if got := r.For("ann").String("everybody's-own-key"); got != "everybody's-own-key" {
		t.Errorf("a value that was deleted long ago is still struck: %s", got)
	}
}

// Two who replace one secret may hear of their commits in the other order: the value that is stored is struck all the same. What was
// replaced long ago takes no room.
func TestTheStoredValueIsStruckInWhateverOrderItsWritersEnd(t *testing.T) {
	r := NewRedactor()
	first := r.Turn()
	r.LearnAs("ten_a", "key", []byte("the-first-value"), "")
	second := r.Turn()
	r.LearnAs("ten_a", "key", []byte("the-second-value"), "")
	r.Forget("ten_a", "key", second, time.Now().Add(-time.Minute))
	r.Forget("ten_a", "key", first, time.Now().Add(-time.Minute))
	if got := r.String("the-first-value the-second-value"); got != "the-first-value [secret: key]" {
		t.Error(got)
	}
	forms := func() (n int) {
		for _, all := range r.heads {
			n += len(all)
		}
		return n
	}
	before := forms()
	for range 10 {
		turn := r.Turn()
		r.LearnAs("ten_a", "key", []byte("the-second-value"), "")
		r.Forget("ten_a", "key", turn, time.Now().Add(-time.Minute))
	}
	if now := forms(); now != before {
		t.Errorf("%d forms became %d", before, now)
	}
}

// However output is cut into writes and wherever secrets stand in it, the
// writer passes on what redacting the whole gives.
func TestWriterAgreesWithTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewRedactor()
		secrets := rapid.SliceOfN(rapid.StringMatching(`[ab]{8,12}`), 1, 4).Draw(t, "secrets")
		for _, s := range secrets {
			r.Learn([]byte(s))
		}
		parts := rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(secrets), rapid.StringMatching(`[ab\n ]{0,5}`))).Draw(t, "parts")
		whole := strings.Join(parts, "")
		var out bytes.Buffer
		w := r.Writer(&out)
		for rest := whole; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			if _, err := io.WriteString(w, rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		w.Close()
		for _, s := range secrets {
			if strings.Contains(out.String(), s) {
				t.Fatalf("%q shows in %q (of %q)", s, out.String(), whole)
			}
		}
		if strings.Count(r.String(whole), mark("")) > strings.Count(out.String(), mark("")) {
			t.Fatalf("%q, want %q", out.String(), r.String(whole))
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	r := NewRedactor()
	for i := range 100 {
		r.Learn(fmt.Appendf(nil, "secret number %d of a hundred", i))
	}
	line := strings.Repeat("an ordinary line of a log with nothing in it. ", 10)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		r.String(line)
	}
}

// Whether a text holds a secret is answered of a tenant's own secrets and of those that are nobody's, and of no other's.
func TestHoldsTellsOfNoOtherTenant(t *testing.T) {
	r := NewRedactor()
	r.LearnAs("one", "key", []byte("swordfish-one"), "")
	r.LearnAs("two", "key", []byte("swordfish-two"), "")
	r.Learn([]byte("swordfish-all"))
	for text, want := range map[string]bool{"a swordfish-one b": true, "a swordfish-all b": true, "a swordfish-two b": false, "none": false} {
		if got := r.Holds("one", text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
