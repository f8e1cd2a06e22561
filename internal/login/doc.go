// Package login is where the person of this machine is let in elsewhere: for each server its address and key, as whom commands act
// there, and which one they take. The token that lets them in is sealed in the room of secrets; it has everyday rights at that server
// and belongs to this machine's terminal, since every program of this user can use it. Who is let in there is that server's to say.
package login
