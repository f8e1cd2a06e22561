package panel

// SignInView is the page of somebody who is not signed in. With a link that
// still works they confirm; without one they are told how to get one.
type SignInView struct {
	Link    string // the one-time code, when there is one
	Host    string
	Problem string
	Next    string // where they wanted to go
}

// PasskeyView is the page that registers a passkey.
type PasskeyView struct {
	PIN      bool
	Passkeys int
	Problem  string
}

// ErrorView is a page that could not be shown, in words.
type ErrorView struct {
	Status  int
	Title   string
	Message string
	Next    string
	Request string
}
