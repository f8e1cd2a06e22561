package panel

import (
	"net/http"
	"net/url"
	"slices"

	"tandem/internal/fault"
	"tandem/internal/panel/ui"
)

// spaceCookie keeps which of several spaces a person looks at, by its id.
const spaceCookie = "tandem_space"

// spacePages are the pages that are about one space, by the name that a switch calls them.
var spacePages = map[string]string{"spaces": "/panel/spaces", "board": "/panel/board", "messages": "/panel/spaces/messages"}

// SpaceSwitch says which space a page is about, and lets a visitor who is in several choose another.
type SpaceSwitch struct {
	To      string // the page that it is on
	In      string // the space's id: forms of the page act there, whatever was chosen elsewhere meanwhile
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

// mySeat is the seat that a request is about: the one in the space that it names, else the one chosen, else the last one taken.
func (v *visit) mySeat() (SeatRow, error) {
	mine, err := v.mySeats()
	if err != nil || len(mine) == 0 {
		return SeatRow{}, err
	}
	if named := v.r.FormValue("space"); named != "" {
		if i := slices.IndexFunc(mine, func(s SeatRow) bool { return s.Space == named }); i >= 0 {
			return mine[i], nil
		}
		return SeatRow{Space: named}, nil // the operation says that they are not in it
	}
	if c, err := v.r.Cookie(spaceCookie); err == nil {
		if i := slices.IndexFunc(mine, func(s SeatRow) bool { return s.Space == c.Value }); i >= 0 {
			return mine[i], nil
		}
	}
	return mine[len(mine)-1], nil
}

// placed is the input of a call with the space that the visitor looks at, for operations that take one.
func placed[In any](v *visit, in In) In {
	chooses, ok := any(&in).(interface{ Choose(space string) })
	if !ok {
		return in
	}
	if seat, err := v.mySeat(); err == nil { // the operation says why not
		chooses.Choose(seat.Space)
	}
	return in
}

// spaceSwitch lets the visitor choose, when there is something to choose.
func (v *visit) spaceSwitch(to string) (SpaceSwitch, error) {
	mine, err := v.mySeats()
	if err != nil {
		return SpaceSwitch{}, err
	}
	now, err := v.mySeat()
	out := SpaceSwitch{To: to, In: now.Space}
	if len(mine) < 2 {
		return out, err
	}
	for _, s := range mine {
		out.Options = append(out.Options, ui.Option{Value: s.Space, Label: s.Title, Chosen: s.Space == now.Space})
	}
	return out, err
}

// about is the address of a page with the space that it is about, so that it goes on to show that one.
func (s SpaceSwitch) about(path string, query url.Values) string {
	if len(s.Options) > 1 {
		query.Set("space", s.In)
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
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

// staysIn has the page that follows a form be about the form's space. One that the visitor has left meanwhile takes nothing.
func (v *visit) staysIn() error {
	named := v.r.PostFormValue("space")
	if named == "" {
		return nil
	}
	mine, err := v.mySeats()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(mine, func(s SeatRow) bool { return s.Space == named }) {
		v.r.Form.Del("space")
		return fault.New(fault.NotFound, "panel", "you are not in that space any more").
			WithNext("switch to another one, or join it again with a new code")
	}
	v.lookAt(named)
	return nil
}

func (v *visit) lookAt(space string) {
	http.SetCookie(v.w, &http.Cookie{Name: spaceCookie, Value: space, Path: "/panel", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: v.r.TLS != nil})
}

// lookAtNew shows the space that was made or joined just now, with a word about it.
func (v *visit) lookAtNew(space, said string) error {
	v.lookAt(space)
	return v.go303("/panel/spaces", said)
}
