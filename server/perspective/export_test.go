package perspective

var (
	NewError   = newError
	TooLong    = tooLong
	KeyInvalid = keyInvalid
	Overload   = overload
)
