"""Third-party Python clients, each as the few calls that an application makes.

A client is imported by its first call, so that clients that are not installed are skipped.
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
    Endpoint,
    Forecast,
    module,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would fetch its prices from elsewhere


def _openai(endpoint: Endpoint) -> Any:
    openai = module("openai")
    return openai.OpenAI(base_url=endpoint.url, api_key=endpoint.key)


def _openai_chat(endpoint: Endpoint, text: str) -> Any:
    messages: Any = [{"role": "user", "content": text}]
    return _openai(endpoint).chat.completions.create(model=endpoint.model, messages=messages).choices[0].message.content


def _openai_stream(endpoint: Endpoint, text: str) -> str:
    messages: Any = [{"role": "user", "content": text}]
    chunks = _openai(endpoint).chat.completions.create(model=endpoint.model, messages=messages, stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def _openai_tool(endpoint: Endpoint) -> Any:
    completion = _openai(endpoint).chat.completions.create(
        model=endpoint.model, messages=NAMING_THE_TOOL, tools=[CHAT_TOOL]
    )
    return completion.choices[0].message.tool_calls[0].function.name


def _openai_structured(endpoint: Endpoint) -> Any:
    completion = _openai(endpoint).chat.completions.parse(
        model=endpoint.model, messages=MESSAGES, response_format=Forecast
    )
    return completion.choices[0].message.parsed


def _responses_stream(endpoint: Endpoint, text: str) -> str:
    with _openai(endpoint).responses.stream(model=endpoint.model, input=text) as stream:
        answer = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        stream.get_final_response()
    return answer


def _responses_tool(endpoint: Endpoint) -> Any:
    tool = {"type": "function", "name": "get_weather", "parameters": PARAMETERS}
    completion = _openai(endpoint).responses.create(model=endpoint.model, input="use get_weather", tools=[tool])
    return completion.output[0].name


def _anthropic(endpoint: Endpoint) -> Any:
    anthropic = module("anthropic")
    return anthropic.Anthropic(base_url=endpoint.url, api_key=endpoint.key)


def _anthropic_chat(endpoint: Endpoint, text: str) -> Any:
    messages = [{"role": "user", "content": text}]
    return _anthropic(endpoint).messages.create(model=endpoint.model, max_tokens=99, messages=messages).content[0].text


def _anthropic_stream(endpoint: Endpoint, text: str) -> Any:
    messages = [{"role": "user", "content": text}]
    with _anthropic(endpoint).messages.stream(model=endpoint.model, max_tokens=99, messages=messages) as stream:
        return stream.get_final_text()


def _anthropic_tool(endpoint: Endpoint) -> Any:
    tool = {"name": "get_weather", "input_schema": PARAMETERS}
    arguments = {"model": endpoint.model, "max_tokens": 99, "messages": NAMING_THE_TOOL, "tools": [tool]}
    return _anthropic(endpoint).messages.create(**arguments).content[0].name


def _anthropic_structured(endpoint: Endpoint) -> Any:
    arguments: Any = {"model": endpoint.model, "max_tokens": 999, "messages": MESSAGES, "output_format": Forecast}
    return _anthropic(endpoint).messages.parse(**arguments).parsed_output


def _genai(endpoint: Endpoint) -> Any:
    genai = module("google.genai")
    return genai.Client(api_key=endpoint.key, http_options={"base_url": endpoint.url})


def _genai_chat(endpoint: Endpoint, text: str) -> Any:
    client = _genai(endpoint)
    return client.models.generate_content(model=endpoint.model, contents=text).text


def _genai_stream(endpoint: Endpoint, text: str) -> str:
    client = _genai(endpoint)
    return "".join(
        chunk.text or "" for chunk in client.models.generate_content_stream(model=endpoint.model, contents=text)
    )


def _genai_tool(endpoint: Endpoint) -> Any:
    declaration = {"name": "get_weather", "parameters_json_schema": PARAMETERS}
    config: Any = {"tools": [{"function_declarations": [declaration]}]}
    client = _genai(endpoint)
    completion = client.models.generate_content(model=endpoint.model, contents="use get_weather", config=config)
    return completion.function_calls[0].name


def _genai_structured(endpoint: Endpoint) -> Any:
    config: Any = {"response_mime_type": "application/json", "response_schema": Forecast}
    client = _genai(endpoint)
    return client.models.generate_content(model=endpoint.model, contents="Hello", config=config).parsed


def _langchain(make: Callable[[Endpoint], Any]) -> Mapping[str, Any]:
    def get_weather(city: str) -> str:
        """The weather of a city."""
        return "sunny"

    return {
        "chat": lambda endpoint, text: make(endpoint).invoke(text).content,
        "stream": lambda endpoint, text: "".join(chunk.content for chunk in make(endpoint).stream(text)),
        "tool": lambda endpoint: (
            make(endpoint).bind_tools([get_weather]).invoke("use get_weather").tool_calls[0]["name"]
        ),
        "structured": lambda endpoint: make(endpoint).with_structured_output(Forecast).invoke("Hello"),
    }


def _chat_openai(endpoint: Endpoint) -> Any:
    return module("langchain_openai").ChatOpenAI(base_url=endpoint.url, api_key=endpoint.key, model=endpoint.model)


def _chat_anthropic(endpoint: Endpoint) -> Any:
    return module("langchain_anthropic").ChatAnthropic(
        base_url=endpoint.url, api_key=endpoint.key, model=endpoint.model
    )


def _litellm(prefix: str) -> Mapping[str, Any]:
    def ask(endpoint: Endpoint, text: str, **more: Any) -> Any:
        litellm = module("litellm")
        messages = [{"role": "user", "content": text}]
        arguments = {
            "model": f"{prefix}/{endpoint.model}",
            "api_base": endpoint.url,
            "api_key": endpoint.key,
            "messages": messages,
        }
        return litellm.completion(**arguments, **more)

    def stream(endpoint: Endpoint, text: str) -> str:
        return "".join(chunk.choices[0].delta.content or "" for chunk in ask(endpoint, text, stream=True))

    def tool(endpoint: Endpoint) -> Any:
        return ask(endpoint, "use get_weather", tools=[CHAT_TOOL]).choices[0].message.tool_calls[0].function.name

    def structured(endpoint: Endpoint) -> Any:
        completion = ask(endpoint, "Hello", response_format=Forecast).choices[0].message.content
        return Forecast.model_validate_json(completion)

    def chat(endpoint: Endpoint, text: str) -> Any:
        return ask(endpoint, text).choices[0].message.content

    return {"chat": chat, "stream": stream, "tool": tool, "structured": structured}


def _pydantic_ai(make: Callable[[Endpoint], Any]) -> Mapping[str, Any]:
    def tool(endpoint: Endpoint) -> Any:
        calls = []
        agent: Any = module("pydantic_ai").Agent(make(endpoint))

        def get_weather(city: str) -> str:
            calls.append("get_weather")
            return "sunny"

        agent.tool_plain(get_weather)
        assert "sunny" in agent.run_sync("use get_weather").output
        return calls[0]

    def chat(endpoint: Endpoint, text: str) -> Any:
        return module("pydantic_ai").Agent(make(endpoint)).run_sync(text).output

    def structured(endpoint: Endpoint) -> Any:
        return module("pydantic_ai").Agent(make(endpoint), output_type=Forecast).run_sync("Hello").output

    return {"chat": chat, "tool": tool, "structured": structured}


def _pydantic_openai(endpoint: Endpoint) -> Any:
    provider = module("pydantic_ai.providers.openai").OpenAIProvider(base_url=endpoint.url, api_key=endpoint.key)
    return module("pydantic_ai.models.openai").OpenAIChatModel(endpoint.model, provider=provider)


def _pydantic_anthropic(endpoint: Endpoint) -> Any:
    provider = module("pydantic_ai.providers.anthropic").AnthropicProvider(base_url=endpoint.url, api_key=endpoint.key)
    return module("pydantic_ai.models.anthropic").AnthropicModel(endpoint.model, provider=provider)


def _instructor_structured(endpoint: Endpoint) -> Any:
    instructor = module("instructor")
    client = instructor.from_openai(_openai(endpoint))
    return client.chat.completions.create(model=endpoint.model, messages=MESSAGES, response_model=Forecast)


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
        chat=lambda endpoint, text: _openai(endpoint).responses.create(model=endpoint.model, input=text).output_text,
        stream=_responses_stream,
        tool=_responses_tool,
        structured=lambda endpoint: (
            _openai(endpoint).responses.parse(model=endpoint.model, input="Hello", text_format=Forecast).output_parsed
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
