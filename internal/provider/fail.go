package provider

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Failure is the kind of a failed call: what the caller can do about it.
type Failure string

// The kinds of failure.
const (
	RateLimited   Failure = "rate_limited"   // wait, RetryAfter says how long when the provider did
	Overloaded    Failure = "overloaded"     // the provider has no capacity: wait or fall back
	Auth          Failure = "auth"           // the key is missing, wrong or not allowed this
	Quota         Failure = "quota"          // the account has no money or credit left
	ContextLength Failure = "context_length" // the conversation is too long for the model
	Rejected      Failure = "rejected"       // the request is wrong: sending it again will not help
	UnknownModel  Failure = "unknown_model"  // no such model, or no such endpoint
	Server        Failure = "server"         // the provider failed
	Unreachable   Failure = "unreachable"    // no connection, or it broke before any answer
	Cut           Failure = "cut"            // the stream ended before the reply did
	Garbled       Failure = "garbled"        // the answer is not what the protocol promises
)

// Error is a failed call.
type Error struct {
	Failure    Failure
	Status     int           // HTTP status, 0 when there was none
	Message    string        // the provider's own words, without the key
	RetryAfter time.Duration // as the provider asked; 0 when it did not
	RequestID  string        // the provider's name for the request, to quote to its support
	Err        error         // the cause below, when there is one
}

// Error says what happened.
func (e *Error) Error() string {
	s := strings.ReplaceAll(string(e.Failure), "_", " ")
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		s += ": " + e.Message
	} else if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// FailureOf tells the kind of err, or "" when it is not a provider's failure.
func FailureOf(err error) Failure {
	var e *Error
	if errors.As(err, &e) {
		return e.Failure
	}
	return ""
}

// Backoff says whether a call that failed with err is worth another attempt, and after how long. attempt counts from
// 1 (the attempt that just failed); jitter is a number in [0,1) that spreads callers apart. The provider's own
// Retry-After wins over our doubling delay, up to limit; when it asks for more, waiting in place is refused.
func Backoff(err error, attempt int, jitter float64, limit time.Duration) (time.Duration, bool) {
	var e *Error
	if !errors.As(err, &e) {
		return 0, false
	}
	switch e.Failure {
	case RateLimited, Overloaded, Server, Unreachable, Cut:
	default:
		return 0, false
	}
	if e.RetryAfter > 0 {
		return e.RetryAfter, e.RetryAfter <= limit
	}
	d := 500 * time.Millisecond << min(max(attempt-1, 0), 16)
	d += time.Duration(jitter * float64(d) / 2)
	return min(d, limit), true
}
