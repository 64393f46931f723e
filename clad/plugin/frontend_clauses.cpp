// The clauses of OpenMP's directives.
#include <algorithm>
#include <map>

#include "clang/AST/DeclOpenMP.h"
#include "frontend_openmp.h"

using namespace clang;

namespace clad {

bool Frontend::read_clauses(const OMPExecutableDirective* d, Worksharing& loop) {
  for (const OMPClause* c : d->clauses())
    if (!read_clause(c, loop)) {
      if (!tainted_)
        fail(c->getBeginLoc(), "cannot differentiate a parallel loop with the clause '" +
                                   source(SourceRange(c->getBeginLoc(), c->getEndLoc())) + "'");
      return false;
    }
  return true;
}

bool Frontend::read_clause(const OMPClause* c, Worksharing& loop) {
  bool plain = true;
  auto add = [&](const auto* list, std::vector<const VarDecl*>& to) {
    for (auto it = list->varlist_begin(); it != list->varlist_end(); ++it) {
      const auto* ref = dyn_cast<DeclRefExpr>((*it)->IgnoreParenImpCasts());
      const auto* var = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
      if (!var || isa<OMPCapturedExprDecl>(var) || !bindings_.count(var) ||
          var->getType().getNonReferenceType()->isPointerType())
        plain = false;
      else if (std::find(to.begin(), to.end(), var) == to.end())
        to.push_back(var);
    }
    return plain;
  };
  auto clause = [&](const std::string& name, const clang::Expr* e) {
    if (loop.threads) loop.clauses.push_back({name, e ? value(e) : nullptr});
    return true;
  };
  if (const auto* p = dyn_cast<OMPPrivateClause>(c)) return add(p, loop.privates);
  if (const auto* p = dyn_cast<OMPFirstprivateClause>(c)) return add(p, loop.firsts);
  if (const auto* p = dyn_cast<OMPLastprivateClause>(c)) return !loop.threads || add(p, loop.lasts);
  if (isa<OMPLinearClause>(c)) return !loop.threads;
  if (const auto* r = dyn_cast<OMPReductionClause>(c)) {
    if (!loop.threads) return true;  // in turn, it is what it says
    std::vector<const VarDecl*> vars;
    if (!add(r, vars)) return false;
    const std::string op = r->getNameInfo().getName().getAsString();
    for (const VarDecl* v : vars)
      loop.reductions.push_back(
          {v, op.starts_with("operator") ? op.substr(8) : op, nullptr, nullptr, nullptr});
    return true;
  }
  if (const auto* n = dyn_cast<OMPNumThreadsClause>(c)) return clause("num_threads", n->getNumThreads());
  if (const auto* i = dyn_cast<OMPIfClause>(c)) return clause("if", i->getCondition());
  if (const auto* s = dyn_cast<OMPScheduleClause>(c)) {
    static const std::map<OpenMPScheduleClauseKind, std::string> kinds = {{OMPC_SCHEDULE_static, "static"},
                                                                          {OMPC_SCHEDULE_dynamic, "dynamic"},
                                                                          {OMPC_SCHEDULE_guided, "guided"},
                                                                          {OMPC_SCHEDULE_auto, "auto"},
                                                                          {OMPC_SCHEDULE_runtime, "runtime"}};
    auto it = kinds.find(s->getScheduleKind());
    if (it == kinds.end()) return false;
    std::string modifier;  // `simd` goes with the simd of the directive
    for (const auto m : {s->getFirstScheduleModifier(), s->getSecondScheduleModifier()}) {
      if (m == OMPC_SCHEDULE_MODIFIER_monotonic) modifier = "monotonic: ";
      if (m == OMPC_SCHEDULE_MODIFIER_nonmonotonic) modifier = "nonmonotonic: ";
    }
    return clause("schedule(" + modifier + it->second, s->getChunkSize());
  }
  switch (c->getClauseKind()) {
    case llvm::omp::OMPC_shared:
    case llvm::omp::OMPC_default:
    case llvm::omp::OMPC_collapse:  // the outer loop alone is shared
    case llvm::omp::OMPC_nowait:
    case llvm::omp::OMPC_proc_bind:
    case llvm::omp::OMPC_safelen:
    case llvm::omp::OMPC_simdlen:
    case llvm::omp::OMPC_aligned:
    case llvm::omp::OMPC_nontemporal:
    case llvm::omp::OMPC_order:
      return true;
    default:
      return false;
  }
}

}  // namespace clad
