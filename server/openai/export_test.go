package openai

var NewError = newError
