# A secret is stored, shown to a person, and forgotten.
machines laptop
laptop$ tandem pin set
laptop> tandem secret set provider/openai      # asks for the value on the terminal, or reads it from a pipe; never from an argument
  type sk-0123456789
laptop> tandem secret set webhook/key --all    # the same (PIN), and its value is kept out of everybody's record
  type whk-0123456789
laptop> tandem secret list                     # names, versions, who set them; and where the master key is
  shows webhook/key
laptop> tandem secret unmask provider/openai   # show it to a person present (PIN); that it was shown is recorded
  shows sk-0123456789
laptop> tandem secret delete provider/openai   # forget it here; change it at its source too
laptop> tandem secret rotate                   # a new master key (PIN); everything is sealed anew, the old key is removed
