package jj

func absorbCommand() *command { return absentCommand("absorb") }
func utilCommand() *command   { return absentCommand("util") }
