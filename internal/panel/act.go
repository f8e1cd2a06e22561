package panel

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/panel/ui"
)

// act is something a person does with a form: an operation, the input that the form means, and where to go afterwards.
type act struct {
	op      string
	input   func(v *visit) (any, error)
	run     func(v *visit, in any) (any, error)
	done    func(v *visit, in, out any) error
	refused func(v *visit, err error) error // shows the form again, with the reason
}

// perform has a form at pattern ("/panel/approvals/{id}/decide") run an operation by its handle. One that needs presence is proven for
// exactly this input, at pattern+"/challenge".
func perform[In, Out any](p *Panel, pattern string, d op.Def[In, Out], input func(*visit) (In, error),
	done func(*visit, In, Out) error, refused func(*visit, error) error) {
	a := act{op: string(d), refused: refused,
		input: func(v *visit) (any, error) {
			in, err := input(v)
			if err != nil {
				return nil, err
			}
			return placed(v, in), nil
		},
		run:  func(v *visit, in any) (any, error) { return op.Do(v.ctx, v.p.Gate, d, in.(In)) },
		done: func(v *visit, in, out any) error { return done(v, in.(In), out.(Out)) }}
	p.mux.HandleFunc("POST "+pattern, p.page(func(v *visit) error { return v.do(a) }))
	p.mux.HandleFunc("POST "+pattern+"/challenge", p.page(func(v *visit) error { return v.challenge(a) }))
}

// form is perform for a form that leads to a page and says there what was done.
func form[In, Out any](p *Panel, pattern string, d op.Def[In, Out], to, said string, input func(*visit) (In, error),
	refused func(*visit, error) error) {
	perform(p, pattern, d, input, func(v *visit, _ In, _ Out) error { return v.go303(to, said) }, refused)
}

func (v *visit) do(a act) error {
	in, err := a.input(v)
	if err != nil {
		return a.refused(v, err)
	}
	if err := v.staysIn(); err != nil {
		return a.refused(v, err)
	}
	proof := v.r.PostFormValue("pin") != "" || v.r.PostFormValue("passkey") != ""
	if v.keyless && !proof {
		return v.needsYou(a, "This browser signed in before the panel gave it a key. Show once that you are here; then it has one.")
	}
	if o := v.p.Gate.Table().Get(a.op); o != nil && (o.Present || proof) {
		if err := v.prove(a.op, in); err != nil {
			if !o.Present {
				return v.needsYou(a, words(err))
			}
			v.unproven = words(err)
			return a.refused(v, err)
		}
	}
	out, err := a.run(v, in)
	if f := fault.Public(err); err != nil && f.Data["presence"] == "required" && !proof {
		return v.needsYou(a, f.Msg)
	}
	if f := fault.Public(err); err != nil && f.Kind == fault.Pending {
		v.ctx = ui.Waits(v.ctx, cmp.Or(askHref(f.Data["approval"]), "/panel/approvals"))
	}
	if err != nil {
		return a.refused(v, err)
	}
	return a.done(v, in, out)
}

// needsYou asks for presence where it turned out to be needed: the same form again, with its fields as they were.
func (v *visit) needsYou(a act, why string) error {
	m, err := v.means()
	if err != nil {
		return err
	}
	view := ConfirmView{Title: "This needs you", Text: why, Does: "Do it", Subject: a.op, Action: v.r.URL.RequestURI(), Back: "/panel/",
		Present: true, PIN: m.PIN, Passkeys: m.Passkeys}
	for name, values := range v.r.PostForm {
		for _, value := range values {
			if name != "pin" && name != "passkey" {
				view.Fields = append(view.Fields, Hidden{name, value})
			}
		}
	}
	return v.show(confirmPage(v.shell("", view.Title), view))
}

// purpose names one exact call. A proof of presence for one call is worth
// nothing for another.
func purpose(name string, in any) (string, error) {
	data, err := json.Marshal(in)
	if err != nil {
		return "", fmt.Errorf("encode the input of %s: %w", name, err)
	}
	sum := sha256.Sum256(data)
	return name + " " + hex.EncodeToString(sum[:]), nil
}

// prove makes the visitor present for one call, by the passkey's answer or the
// PIN that came with the form. The cookie alone is never enough.
func (v *visit) prove(name string, in any) error {
	why, err := purpose(name, in)
	if err != nil {
		return err
	}
	how := ""
	switch answer, pin := v.r.PostFormValue("passkey"), v.r.PostFormValue("pin"); {
	case answer != "":
		how, err = "passkey", v.p.Identity.ProvePasskey(v.ctx, v.site(), v.caller, why, []byte(answer))
	case pin != "" && !v.site().Near:
		err = fault.New(fault.Denied, "presence", "a PIN is taken on this machine only").WithNext("use a passkey")
	case pin != "":
		how, err = "pin", v.p.Identity.ProvePIN(v.ctx, v.caller.Tenant, v.caller.Actor, pin, "browser "+v.caller.Token)
	default:
		err = fault.New(fault.Denied, "presence", "this needs you: a passkey or the PIN").WithNext("answer with your passkey, or type the PIN")
	}
	if err != nil {
		return err
	}
	return v.isPresent(how)
}

// isPresent marks the visitor as present for what this request does.
func (v *visit) isPresent(how string) error {
	v.caller.Present = how
	v.ctx = op.WithCaller(v.ctx, v.caller)
	return v.keepKey()
}

// challenge asks the visitor's device for presence, bound to what the form says.
func (v *visit) challenge(a act) error {
	in, err := a.input(v)
	if err != nil {
		return v.failJSON(err)
	}
	why, err := purpose(a.op, in)
	if err != nil {
		return v.failJSON(err)
	}
	ask, err := v.p.Identity.AskPasskey(v.ctx, v.site(), v.caller, why)
	if err != nil {
		return v.failJSON(err)
	}
	return v.json(http.StatusOK, ask)
}

func (v *visit) json(status int, what any) error {
	v.w.Header().Set("Content-Type", "application/json")
	v.w.WriteHeader(status)
	return json.NewEncoder(v.w).Encode(what)
}

// failAs fails as the request wants to read it: a script reads JSON.
func (v *visit) failAs(err error) {
	if v.r.Header.Get("Accept") != "application/json" {
		v.fail(err)
		return
	}
	if err := v.failJSON(err); err != nil {
		v.p.Log.Warn("an answer was not written", "path", v.r.URL.Path, "err", err)
	}
}

func (v *visit) failJSON(err error) error {
	f := fault.Public(err)
	if f.Kind == fault.Internal {
		v.p.Log.Error("challenge failed", "path", v.r.URL.Path, "err", err)
	}
	return v.json(f.Kind.Status(), map[string]any{"error": map[string]string{"kind": f.Kind.String(), "message": f.Msg, "next": f.Next}})
}

// words is an error as a form shows it.
func words(err error) string {
	f := fault.Public(err)
	if f.Next != "" {
		return f.Msg + " — " + f.Next
	}
	return f.Msg
}

// means is what the visitor can prove presence with.
type means struct {
	PIN      bool
	Passkeys int
}

func (v *visit) means() (means, error) {
	who, err := ask(v, identity.ActorWhoami, identity.Nothing{})
	if err != nil {
		return means{}, err
	}
	keys, err := v.passkeys()
	if err != nil {
		return means{}, err
	}
	m := means{PIN: who.PIN && v.site().Near}
	for _, k := range keys {
		if k.Host == v.site().Host {
			m.Passkeys++
		}
	}
	return m, nil
}
