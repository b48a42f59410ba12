"""A model that asks the run's budget before each request, repeated ones included, and writes down what it used.

Imported only by what is about to call a model: it needs pydantic-ai.
"""

from __future__ import annotations

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from acemem.memory.learn.model.answer import schema_size
from acemem.memory.learn.model.spending import ANSWER_TOKENS, Budget, Usage, dollars

CHARACTERS_PER_TOKEN = 4


class MeteredModel(WrapperModel):
    """Another model, within a budget. `name` is how the price table finds it. Raises LimitReached."""

    def __init__(self, wrapped: Model, name: str, budget: Budget) -> None:
        super().__init__(wrapped)
        self._name = name
        self._budget = budget

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Sends the request if the budget has room for it."""
        estimate = self._estimate(messages)
        await self._budget.reserve(estimate)
        used = Usage(requests=1)  # a request that fails may have been billed, but nobody says how much
        try:
            response = await super().request(messages, model_settings, model_request_parameters)
            used = self._used(response)
        finally:
            self._budget.settle(estimate, used)
        return response

    def _estimate(self, messages: list[ModelMessage]) -> Usage:
        characters = schema_size()
        for message in messages:
            if isinstance(message, ModelRequest):
                characters += len(message.instructions or "")
            characters += sum(len(str(getattr(part, "content", ""))) for part in message.parts)
        tokens = characters // CHARACTERS_PER_TOKEN
        return Usage(1, tokens, ANSWER_TOKENS, dollars(self._name, tokens, ANSWER_TOKENS) or 0.0)

    def _used(self, response: ModelResponse) -> Usage:
        usage = response.usage
        cost = usage.cost
        if cost is None:
            try:
                cost = response.cost().total_price
            except (LookupError, ValueError, AssertionError):  # no price, no usage, or no name to look it up by
                known = dollars(self._name, usage.input_tokens, usage.output_tokens)
                return Usage(1, usage.input_tokens, usage.output_tokens, known or 0.0, int(known is None))
        return Usage(1, usage.input_tokens, usage.output_tokens, float(cost))
