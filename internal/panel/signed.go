package panel

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/panel/sign"
)

// signed lets an act pass that the browser's own key signed, once. A browser
// that signed in before it had a key shows one, and has to prove presence
// until it is kept.
func (v *visit) signed() error {
	cookie, err := v.r.Cookie(v.p.Cookie)
	if err != nil {
		return fault.New(fault.Denied, "panel", "this request has no cookie")
	}
	key, err := v.p.Identity.BrowserKey(v.ctx, cookie.Value)
	if err != nil {
		return err
	}
	v.keyless = key == ""
	act, err := v.p.signature(v.r)
	switch {
	case err == nil && act.Key == key:
		return nil
	case err == nil && v.keyless:
		v.shows = act.Key
		return nil
	case v.keyless:
		return nil // it can look, and act with a proof of presence
	}
	v.p.Log.Warn("an act without the signature of its browser was refused", "path", v.r.URL.Path, "browser", v.caller.Token, "err", err)
	return fault.New(fault.Denied, "panel", "This was not signed by the browser that signed in, or too late, or twice.").
		With("reason", "not signed").
		WithNext("Reload the page and try again. If it stays so, this browser has lost its key: sign in again: tandem panel open")
}

// signature checks the signature of a form, uses it up and takes it out of the
// form: what is left are the fields.
func (p *Panel) signature(r *http.Request) (sign.Act, error) {
	field := r.PostFormValue(sign.Field)
	files, err := fileDigests(r)
	if err != nil {
		return sign.Act{}, err
	}
	act, err := sign.Check(field, r.Method, r.URL.RequestURI(), sign.Fields(r.PostForm, files))
	r.PostForm.Del(sign.Field)
	r.Form.Del(sign.Field)
	if err == nil && !p.seen.Use(act, p.Now()) {
		return sign.Act{}, fault.New(fault.Denied, "panel", "the signature is too old, or was used")
	}
	return act, err
}

func fileDigests(r *http.Request) (map[string][]string, error) {
	out := map[string][]string{}
	if r.MultipartForm == nil {
		return out, nil
	}
	for name, files := range r.MultipartForm.File {
		for _, h := range files {
			f, err := h.Open()
			if err != nil {
				return nil, err
			}
			sum := sha256.New()
			_, err = io.Copy(sum, f)
			f.Close()
			if err != nil {
				return nil, err
			}
			out[name] = append(out[name], hex.EncodeToString(sum.Sum(nil)))
		}
	}
	return out, nil
}

// keepKey keeps the key that a browser without one showed, now that its person
// is present.
func (v *visit) keepKey() error {
	if !v.keyless || v.shows == "" {
		return nil
	}
	_, err := ask(v, identity.SigninKey, identity.KeyIn{Key: v.shows})
	return err
}
