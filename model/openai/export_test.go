package openai

var (
	Check     = checkResponses
	CheckChat = checkChat
)
