"""Clients of Python, each as the few calls that an application makes with it.

A client is imported only when it is asked; what is not installed is skipped with that reason.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tests.system.clients.client import (
    CHAT_TOOL,
    MESSAGES,
    NAMING_THE_TOOL,
    PARAMETERS,
    Client,
    Forecast,
    Where,
    module,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would fetch its prices from elsewhere


def _openai(where: Where) -> Any:
    openai = module("openai")
    return openai.OpenAI(base_url=where.url, api_key=where.key)


def _openai_chat(where: Where, text: str) -> Any:
    messages: Any = [{"role": "user", "content": text}]
    return _openai(where).chat.completions.create(model=where.model, messages=messages).choices[0].message.content


def _openai_stream(where: Where, text: str) -> str:
    messages: Any = [{"role": "user", "content": text}]
    chunks = _openai(where).chat.completions.create(model=where.model, messages=messages, stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def _openai_tool(where: Where) -> Any:
    made = _openai(where).chat.completions.create(model=where.model, messages=NAMING_THE_TOOL, tools=[CHAT_TOOL])
    return made.choices[0].message.tool_calls[0].function.name


def _openai_structured(where: Where) -> Any:
    made = _openai(where).chat.completions.parse(model=where.model, messages=MESSAGES, response_format=Forecast)
    return made.choices[0].message.parsed


def _responses_stream(where: Where, text: str) -> str:
    with _openai(where).responses.stream(model=where.model, input=text) as stream:
        said = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        stream.get_final_response()
    return said


def _responses_tool(where: Where) -> Any:
    tool = {"type": "function", "name": "get_weather", "parameters": PARAMETERS}
    made = _openai(where).responses.create(model=where.model, input="use get_weather", tools=[tool])
    return made.output[0].name


def _anthropic(where: Where) -> Any:
    anthropic = module("anthropic")
    return anthropic.Anthropic(base_url=where.url, api_key=where.key)


def _anthropic_chat(where: Where, text: str) -> Any:
    messages = [{"role": "user", "content": text}]
    return _anthropic(where).messages.create(model=where.model, max_tokens=99, messages=messages).content[0].text


def _anthropic_stream(where: Where, text: str) -> Any:
    messages = [{"role": "user", "content": text}]
    with _anthropic(where).messages.stream(model=where.model, max_tokens=99, messages=messages) as stream:
        return stream.get_final_text()


def _anthropic_tool(where: Where) -> Any:
    tool = {"name": "get_weather", "input_schema": PARAMETERS}
    asked = {"model": where.model, "max_tokens": 99, "messages": NAMING_THE_TOOL, "tools": [tool]}
    return _anthropic(where).messages.create(**asked).content[0].name


def _anthropic_structured(where: Where) -> Any:
    asked: Any = {"model": where.model, "max_tokens": 999, "messages": MESSAGES, "output_format": Forecast}
    return _anthropic(where).messages.parse(**asked).parsed_output


def _genai(where: Where) -> Any:
    genai = module("google.genai")
    return genai.Client(api_key=where.key, http_options={"base_url": where.url})


def _genai_chat(where: Where, text: str) -> Any:
    client = _genai(where)
    return client.models.generate_content(model=where.model, contents=text).text


def _genai_stream(where: Where, text: str) -> str:
    client = _genai(where)
    return "".join(
        chunk.text or "" for chunk in client.models.generate_content_stream(model=where.model, contents=text)
    )


def _genai_tool(where: Where) -> Any:
    declared = {"name": "get_weather", "parameters_json_schema": PARAMETERS}
    config: Any = {"tools": [{"function_declarations": [declared]}]}
    client = _genai(where)
    made = client.models.generate_content(model=where.model, contents="use get_weather", config=config)
    return made.function_calls[0].name


def _genai_structured(where: Where) -> Any:
    config: Any = {"response_mime_type": "application/json", "response_schema": Forecast}
    client = _genai(where)
    return client.models.generate_content(model=where.model, contents="Hello", config=config).parsed


def _langchain(make: Callable[[Where], Any]) -> Mapping[str, Any]:
    def get_weather(city: str) -> str:
        """The weather of a city."""
        return "sunny"

    return {
        "chat": lambda where, text: make(where).invoke(text).content,
        "stream": lambda where, text: "".join(chunk.content for chunk in make(where).stream(text)),
        "tool": lambda where: make(where).bind_tools([get_weather]).invoke("use get_weather").tool_calls[0]["name"],
        "structured": lambda where: make(where).with_structured_output(Forecast).invoke("Hello"),
    }


def _chat_openai(where: Where) -> Any:
    return module("langchain_openai").ChatOpenAI(base_url=where.url, api_key=where.key, model=where.model)


def _chat_anthropic(where: Where) -> Any:
    return module("langchain_anthropic").ChatAnthropic(base_url=where.url, api_key=where.key, model=where.model)


def _litellm(prefix: str) -> Mapping[str, Any]:
    def ask(where: Where, text: str, **more: Any) -> Any:
        litellm = module("litellm")
        messages = [{"role": "user", "content": text}]
        asked = {"model": f"{prefix}/{where.model}", "api_base": where.url, "api_key": where.key, "messages": messages}
        return litellm.completion(**asked, **more)

    def stream(where: Where, text: str) -> str:
        return "".join(chunk.choices[0].delta.content or "" for chunk in ask(where, text, stream=True))

    def tool(where: Where) -> Any:
        return ask(where, "use get_weather", tools=[CHAT_TOOL]).choices[0].message.tool_calls[0].function.name

    def structured(where: Where) -> Any:
        made = ask(where, "Hello", response_format=Forecast).choices[0].message.content
        return Forecast.model_validate_json(made)

    def chat(where: Where, text: str) -> Any:
        return ask(where, text).choices[0].message.content

    return {"chat": chat, "stream": stream, "tool": tool, "structured": structured}


def _pydantic_ai(make: Callable[[Where], Any]) -> Mapping[str, Any]:
    def tool(where: Where) -> Any:
        called = []
        agent: Any = module("pydantic_ai").Agent(make(where))

        def get_weather(city: str) -> str:
            called.append("get_weather")
            return "sunny"

        agent.tool_plain(get_weather)
        assert "sunny" in agent.run_sync("use get_weather").output
        return called[0]

    def chat(where: Where, text: str) -> Any:
        return module("pydantic_ai").Agent(make(where)).run_sync(text).output

    def structured(where: Where) -> Any:
        return module("pydantic_ai").Agent(make(where), output_type=Forecast).run_sync("Hello").output

    return {"chat": chat, "tool": tool, "structured": structured}


def _pydantic_openai(where: Where) -> Any:
    provider = module("pydantic_ai.providers.openai").OpenAIProvider(base_url=where.url, api_key=where.key)
    return module("pydantic_ai.models.openai").OpenAIChatModel(where.model, provider=provider)


def _pydantic_anthropic(where: Where) -> Any:
    provider = module("pydantic_ai.providers.anthropic").AnthropicProvider(base_url=where.url, api_key=where.key)
    return module("pydantic_ai.models.anthropic").AnthropicModel(where.model, provider=provider)


def _instructor_structured(where: Where) -> Any:
    instructor = module("instructor")
    client = instructor.from_openai(_openai(where))
    return client.chat.completions.create(model=where.model, messages=MESSAGES, response_model=Forecast)


_CHAT: Mapping[str, Any] = {
    "chat": _openai_chat,
    "stream": _openai_stream,
    "tool": _openai_tool,
    "structured": _openai_structured,
}
_REFUSED: Mapping[str, Any] = {"bad_key": "AuthenticationError", "unknown_model": "NotFoundError"}

CLIENTS: Mapping[str, Client] = {
    "openai responses": Client(
        "openai",
        "pc",
        "/v1",
        chat=lambda where, text: _openai(where).responses.create(model=where.model, input=text).output_text,
        stream=_responses_stream,
        tool=_responses_tool,
        structured=lambda where: (
            _openai(where).responses.parse(model=where.model, input="Hello", text_format=Forecast).output_parsed
        ),
        overloaded=("InternalServerError 503", 3),
        **_REFUSED,
        broken="RuntimeError",
    ),
    "openai chat": Client(
        "openai",
        "pc",
        "/v1",
        **_CHAT,
        **_REFUSED,
        overloaded=("InternalServerError 503", 3),
        broken="APIError",
    ),
    "openai at pd": Client(
        "openai",
        "pd",
        "/v1",
        **_CHAT,
        bad_key="BadRequestError",
        unknown_model="NotFoundError",
        overloaded=("InternalServerError 503", 3),
        broken="RemoteProtocolError|APIConnectionError",
    ),
    "anthropic": Client(
        "anthropic",
        "pa",
        "",
        chat=_anthropic_chat,
        stream=_anthropic_stream,
        tool=_anthropic_tool,
        structured=_anthropic_structured,
        overloaded=("OverloadedError 529", 3),
        **_REFUSED,
        broken="APIStatusError",
    ),
    "google-genai": Client(
        "google.genai",
        "pb",
        "",
        chat=_genai_chat,
        stream=_genai_stream,
        tool=_genai_tool,
        structured=_genai_structured,
        bad_key="ClientError 400",
        unknown_model="ClientError 404",
        overloaded=("ServerError 503", 1),
        retries=False,
        model="mock-lite",
        broken="ServerError",
        broken_since=("google-genai", 2),
    ),
    "langchain-openai": Client(
        "langchain_openai",
        "pc",
        "/v1",
        **_langchain(_chat_openai),
        **_REFUSED,
        overloaded=("InternalServerError", 3),
        broken="APIError",
        too_long="OpenAIContextOverflowError",
    ),
    "langchain-anthropic": Client(
        "langchain_anthropic",
        "pa",
        "",
        **_langchain(_chat_anthropic),
        **_REFUSED,
        overloaded=("OverloadedError", 3),
        broken="APIStatusError",
        too_long="AnthropicContextOverflowError",
    ),
    "litellm at pc": Client(
        "litellm",
        "pc",
        "/v1",
        **_litellm("openai"),
        **_REFUSED,
        overloaded=("ServiceUnavailableError", 3),
        broken="MidStreamFallbackError",
        too_long="ContextWindowExceededError",
    ),
    "litellm at pa": Client(
        "litellm",
        "pa",
        "",
        **_litellm("anthropic"),
        **_REFUSED,
        overloaded=("InternalServerError", 1),
        retries=False,
        broken="MidStreamFallbackError",
        too_long="ContextWindowExceededError",
    ),
    "pydantic-ai at pc": Client(
        "pydantic_ai",
        "pc",
        "/v1",
        **_pydantic_ai(_pydantic_openai),
        bad_key="ModelHTTPError 401",
        unknown_model="ModelHTTPError 404",
        overloaded=("ModelHTTPError 503", 3),
        too_long="ModelHTTPError",
    ),
    "pydantic-ai at pa": Client(
        "pydantic_ai",
        "pa",
        "",
        **_pydantic_ai(_pydantic_anthropic),
        bad_key="ModelHTTPError 401",
        unknown_model="ModelHTTPError 404",
        overloaded=("ModelHTTPError 529", 3),
        too_long="ModelHTTPError",
    ),
    "instructor": Client("instructor", "pc", "/v1", chat=_openai_chat, structured=_instructor_structured),
}
