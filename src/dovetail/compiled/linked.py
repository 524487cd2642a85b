"""Inner kernels as Numba would compile them, but optimised once, in the kernel that they end up in.

Numba optimises each function together with all that it calls, and makes machine code of it, before
it looks at the caller, which then does the same again: 145 functions, nested fifteen deep, took
27 s in LLVM. Nobody calls an inner kernel but other kernels, so that here it stays as it was
lowered until a kernel links it in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numba import _dynfunc, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, _pass_registry, register_pass
from numba.core.typed_passes import NativeLowering

from dovetail.compiled.remembered import ANSWERS

SKIPPED = {
    "with_lifting",
    "inline_closure_likes",
    "rewrite_semantic_constants",
    "Rewrite dynamic raises",
    "make_function_op_code_to_jit_function",
    "inline_inlinables",
    "dead_branch_prune",
    "find_literally",
    "literal_unroll",
    "LiteralPropagation",
    "inline_overloads",
    "annotate_types",
    "dump_parfor_diagnostics",
    "nopython_rewrites",
}
"""Passes for what inner kernels do not have: closures, literals, exceptions with values."""


class UnlinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of one inner kernel, without what it calls and without machine code."""

    _shared_module: Any

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """The code with all that it calls, for a kernel that is about to be compiled."""
        if self._shared_module is None:
            module = self._final_module.clone()
            for other in self.called({self}):
                module.link_in(other, preserve=True)
            for function in module.functions:
                if not function.is_declaration and function.linkage.name == "external":
                    function.linkage = "linkonce_odr"
            self._shared_module = module
        return self._shared_module

    def called(self, seen: set[Any]) -> Iterator[Any]:
        """The modules of everything called from here, each once."""
        for library in self._linking_libraries:
            if library in seen:
                continue
            seen.add(library)
            if isinstance(library, UnlinkedLibrary):
                yield library._final_module
                yield from library.called(seen)
            else:
                yield library._get_module_for_linking()


@register_pass(mutates_CFG=True, analysis_only=False)
class UnlinkedLowering(NativeLowering):  # type: ignore[misc]
    """To LLVM's language and no further."""

    _name = "unlinked_lowering"

    def run_pass(self, state: Any) -> bool:
        context = state.targetctx
        state.library = UnlinkedLibrary(context.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        name = lowered.fndesc.qualname.split(".")[-1]
        module = lowered.fndesc.lookup_module()
        # Only a key, by which callers find the code: it has no address and cannot be called.
        key = _dynfunc.make_function(module, name, "", 0, lowered.env, (state.library,))
        context.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


class QuietPasses(PassManager):  # type: ignore[misc]
    """Runs passes and tells nobody: Numba puts every flag and column of every argument into words
    before each pass, in case somebody listens."""

    def run(self, state: Any) -> None:
        with ANSWERS.kept():
            for step, _ in self.passes:
                each = _pass_registry.get(step).pass_inst
                each.analysis = self._analysis
                each.run_initialization(state)
                each.run_pass(state)
                each.run_finalizer(state)


class InnerCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's pipeline up to LLVM's language, without passes that inner kernels never need."""

    passes: QuietPasses | None = None
    """The same for all inner kernels; passes keep nothing from one to the next."""

    def define_pipelines(self) -> list[Any]:
        if InnerCompiler.passes is None:
            passes = QuietPasses("inner kernel")
            passes.passes = [
                (UnlinkedLowering if step is NativeLowering else step, why)
                for step, why in DefaultPassBuilder.define_nopython_pipeline(self.state).passes
                if step._name not in SKIPPED
            ]
            passes.finalize()
            InnerCompiler.passes = passes
        return [InnerCompiler.passes]


class MergedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel that has all that it calls for its own.

    LLVM then writes into their callers what is called once, and leaves out arguments that nobody
    reads. Where others might share it, it keeps 100 functions, and hands each its 200 words.
    """

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "linkonce_odr":
                # A name of its own: by the old one others would find it, without its arguments.
                function.name = f"{function.name}.{self.name}"
                function.linkage = "internal"
        super()._optimize_final_module()


@register_pass(mutates_CFG=True, analysis_only=False)
class MergedLowering(NativeLowering):  # type: ignore[misc]
    """To machine code, all at once."""

    _name = "merged_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = MergedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class MergedCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's pipeline for kernels in which most of the time is spent."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state, "merged kernel")
        passes.passes = [
            (MergedLowering if step is NativeLowering else step, why) for step, why in passes.passes
        ]
        passes.finalize()
        return [passes]


def take_any_number(dispatcher: Any) -> None:
    """Let one compilation serve all whole numbers: Numba makes a copy for every literal argument.

    A fifth of all compilations were such copies.
    """
    for_types = dispatcher.get_call_template

    def without_literals(arguments: Any, keywords: Any) -> Any:
        named = {name: types.unliteral(kind) for name, kind in keywords.items()}
        return for_types(tuple(types.unliteral(kind) for kind in arguments), named)

    dispatcher.get_call_template = without_literals
