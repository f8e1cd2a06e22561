package sign_test

import (
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/internal/panel/browsertest"
	"tandem/internal/panel/sign"
)

// A signature holds for one request, once, for a short time; and nothing holds
// that was signed before the server's memory of used ones began.
func TestASignatureIsOfOneRequest(t *testing.T) {
	key, other := browsertest.NewKey(t), browsertest.NewKey(t)
	form := url.Values{"key": {"a"}, "value": {"two\r\nlines"}, "pages": {"1", "2"}}
	signed := key.Sign(t, "/panel/resources?x=1", form)
	check := func(field, method, address string, form url.Values) (sign.Act, error) {
		return sign.Check(field, method, address, sign.Fields(form, nil))
	}
	field := signed.Get(sign.Field)
	act, err := check(field, "POST", "/panel/resources?x=1", signed)
	if err != nil {
		t.Fatal(err)
	}
	script := url.Values{"key": {"a"}, "value": {"two\nlines"}, "pages": {"1", "2"}}
	if a, err := check(field, "POST", "/panel/resources?x=1", script); err != nil || a != act {
		t.Errorf("with its lines ended as a script ends them: %v", err)
	}
	part := strings.Split(field, ".")
	swapped := strings.Join([]string{part[0], part[1], part[2], strings.Split(other.Sign(t, "/", nil).Get(sign.Field), ".")[3], part[4]}, ".")
	for name, bad := range map[string]struct {
		field, method, address string
		form                   url.Values
	}{
		"nothing":         {"", "POST", "/panel/resources?x=1", form},
		"another method":  {field, "DELETE", "/panel/resources?x=1", form},
		"another address": {field, "POST", "/panel/tokens", form},
		"another query":   {field, "POST", "/panel/resources?x=2", form},
		"another value":   {field, "POST", "/panel/resources?x=1", url.Values{"key": {"b"}, "value": form["value"], "pages": form["pages"]}},
		"a field more":    {field, "POST", "/panel/resources?x=1", url.Values{"key": {"a", "b"}, "value": form["value"], "pages": form["pages"]}},
		"another time":    {strings.Replace(field, part[1], "1", 1), "POST", "/panel/resources?x=1", form},
		"another nonce":   {strings.Replace(field, part[2], strings.Repeat("A", 26), 1), "POST", "/panel/resources?x=1", form},
		"another key":     {swapped, "POST", "/panel/resources?x=1", form},
		"no point":        {strings.Replace(field, part[3], "AAAA", 1), "POST", "/panel/resources?x=1", form},
	} {
		if _, err := check(bad.field, bad.method, bad.address, bad.form); err == nil {
			t.Errorf("%s: the signature holds", name)
		}
	}
	if sign.Fields(form, nil) == sign.Fields(form, map[string][]string{"files": {"00"}}) {
		t.Error("a file changes nothing")
	}
}

func TestASignatureIsUsedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := sign.Seen{Began: time.Now()}
		act := sign.Act{Key: "k", Nonce: "n", At: time.Now().Add(time.Second)}
		if !seen.Use(act, time.Now()) || seen.Use(act, time.Now()) {
			t.Error("the first use counts, the second does not")
		}
		for _, at := range []time.Duration{-time.Millisecond, sign.Window + time.Second} {
			if seen.Use(sign.Act{Key: "k", Nonce: at.String(), At: time.Now().Add(at)}, time.Now()) {
				t.Errorf("one of %v was taken", at)
			}
		}
		for range 5 {
			time.Sleep(sign.Window)
			if seen.Use(act, time.Now()) {
				t.Errorf("it counts again after %v", time.Since(seen.Began))
			}
			if !seen.Use(sign.Act{Key: "k", Nonce: time.Now().String(), At: time.Now()}, time.Now()) {
				t.Error("a new one was not taken")
			}
		}
	})
}
