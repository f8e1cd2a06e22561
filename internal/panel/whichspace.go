package panel

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"tandem/internal/op"
	"tandem/internal/panel/ui"
)

// spaceCookie keeps which of several spaces a person looks at, by its id.
const spaceCookie = "tandem_space"

// spacePages are the pages that are about one space, by the name that a switch calls them.
var spacePages = map[string]string{"spaces": "/panel/spaces", "board": "/panel/board", "messages": "/panel/spaces/messages"}

// SpaceSwitch are the spaces that a visitor is in, when they are several.
type SpaceSwitch struct {
	To      string // the page that it is on
	Options []ui.Option
}

// mySeats are the visitor's own seats that can be used, oldest first.
func (v *visit) mySeats() ([]SeatRow, error) {
	if v.sitsIn != nil {
		return v.sitsIn, nil
	}
	all, err := v.seats()
	if err != nil {
		return nil, err
	}
	v.sitsIn = slices.DeleteFunc(slices.Clone(all), func(s SeatRow) bool { return !s.Mine || s.State != "active" && s.State != "broken" })
	return v.sitsIn, nil
}

// mySeat is the seat that the pages are about: the one chosen, or the last one taken.
func (v *visit) mySeat() (SeatRow, error) {
	mine, err := v.mySeats()
	if err != nil || len(mine) == 0 {
		return SeatRow{}, err
	}
	if c, err := v.r.Cookie(spaceCookie); err == nil {
		if i := slices.IndexFunc(mine, func(s SeatRow) bool { return s.Space == c.Value }); i >= 0 {
			return mine[i], nil
		}
	}
	return mine[len(mine)-1], nil
}

// inSpace is the input of a call with the space that the visitor looks at, for operations that take one.
func (v *visit) inSpace(name string, in any) any {
	if !strings.HasPrefix(name, "space.") && !strings.HasPrefix(name, "board.") {
		return in
	}
	o := v.p.Gate.Table().Get(name)
	if o == nil || !slices.ContainsFunc(o.Fields(), func(f op.Field) bool { return f.Name == "space" && !f.Required }) {
		return in
	}
	seat, err := v.mySeat()
	if err != nil || seat.Space == "" {
		return in // the operation says why
	}
	if in == nil {
		return map[string]any{"space": seat.Space}
	}
	if m, ok := in.(map[string]any); ok && m["space"] == nil {
		m["space"] = seat.Space
	}
	return in
}

// spaceSwitch lets the visitor choose, when there is something to choose.
func (v *visit) spaceSwitch(to string) (SpaceSwitch, error) {
	out := SpaceSwitch{To: to}
	mine, err := v.mySeats()
	if err != nil || len(mine) < 2 {
		return out, err
	}
	now, err := v.mySeat()
	for _, s := range mine {
		out.Options = append(out.Options, ui.Option{Value: s.Space, Label: s.Title, Chosen: s.Space == now.Space})
	}
	return out, err
}

// switchSpace remembers which space the visitor wants to see.
func (v *visit) switchSpace() error {
	mine, err := v.mySeats()
	if err != nil {
		return err
	}
	to, which := spacePages[v.query("to")], v.query("space")
	if to == "" || !slices.ContainsFunc(mine, func(s SeatRow) bool { return s.Space == which }) {
		return noSuchPage
	}
	v.lookAt(which)
	return v.go303(to, "")
}

func (v *visit) lookAt(space string) {
	http.SetCookie(v.w, &http.Cookie{Name: spaceCookie, Value: space, Path: "/panel", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: v.r.TLS != nil})
}

// lookAtNew shows the space that was made or joined just now.
func lookAtNew(v *visit, out json.RawMessage) error {
	var made struct {
		Space string `json:"space"`
	}
	if err := json.Unmarshal(out, &made); err != nil {
		return err
	}
	v.lookAt(made.Space)
	return nil
}
