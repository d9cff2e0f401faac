package perspective

var (
	NewError   = newError
	TooLong    = tooLong
	KeyInvalid = keyInvalid
	Overload   = overload

	TextTypes  = textType("").names()
	ScoreTypes = scoreType("").names()
)
