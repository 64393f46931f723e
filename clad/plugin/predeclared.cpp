#include "predeclared.h"

#include <algorithm>
#include <set>

#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

/// What Clad calls the derivative; nothing of those that are not called by a name.
std::string documented_name(const Request& request) {
  const FunctionDecl* f = request.function;
  if (!request.call || request.functor || !f->getIdentifier() || f->isTemplateInstantiation()) return "";
  const bool elements = std::any_of(request.ranges.begin(), request.ranges.end(),
                                    [](const Range& r) { return r.first || !r.member.empty(); });
  std::string name = f->getName().str();
  if (request.kind == Request::Derivative && !request.vector && !elements) {
    if (request.parameters.empty() || (request.all && request.parameters.size() > 1)) return "";
    return name + (request.order > 1 ? "_d" + std::to_string(request.order) : "_d") + "arg" +
           std::to_string(request.parameters[0]);
  }
  if (request.kind != Request::Gradient) return "";
  name += "_grad";
  if (!request.all)
    for (const unsigned p : request.parameters) name += "_" + std::to_string(p);
  return name;
}

bool same(QualType a, QualType b) { return a.getCanonicalType() == b.getCanonicalType(); }

/// Whether a function takes what execute() of the derivative of `f` takes, and returns what it returns.
bool fits(const FunctionDecl* declared, const FunctionDecl* f, bool gradient) {
  const unsigned params = f->getNumParams();
  if (gradient ? declared->getNumParams() <= params : declared->getNumParams() != params) return false;
  if (gradient ? !declared->getReturnType()->isVoidType()
               : !same(declared->getReturnType(), f->getReturnType()))
    return false;
  for (unsigned i = 0; i < params; ++i)
    if (!same(declared->getParamDecl(i)->getType(), f->getParamDecl(i)->getType())) return false;
  const auto* method = dyn_cast<CXXMethodDecl>(f);
  if (!method) return true;
  const auto* other = cast<CXXMethodDecl>(declared);
  return method->isStatic() == other->isStatic() && method->isConst() == other->isConst();
}

}  // namespace

FunctionDecl* predeclared(const Request& request) {
  const FunctionDecl* f = request.function;
  const std::string name = documented_name(request);
  if (name.empty()) return nullptr;
  const DeclarationName identifier = &f->getASTContext().Idents.get(name);
  for (NamedDecl* d : f->getDeclContext()->getRedeclContext()->lookup(identifier)) {
    auto* declared = dyn_cast<FunctionDecl>(d);
    if (declared && !declared->isDefined() && !declared->isDeleted() && !declared->isPureVirtual() &&
        fits(declared, f, request.kind == Request::Gradient))
      return declared;
  }
  return nullptr;
}

std::string define_predeclared(const std::vector<Request>& requests, TypeTable& types) {
  std::string text;
  std::set<const FunctionDecl*> done;
  for (const Request& request : requests) {
    const FunctionDecl* declared = predeclared(request);
    if (!declared || !done.insert(declared->getCanonicalDecl()).second) continue;
    const FunctionDecl* f = request.function;
    const ASTContext& context = f->getASTContext();
    const auto* method = dyn_cast<CXXMethodDecl>(f);
    const bool of_object = method && !method->isStatic();
    const QualType type = of_object
                              ? context.getMemberPointerType(
                                    f->getType(), context.getRecordType(method->getParent()).getTypePtr())
                              : context.getPointerType(f->getType());
    std::string parameters, arguments = of_object ? "*this" : "";
    for (unsigned i = 0; i < declared->getNumParams(); ++i) {
      const std::string name = "a" + std::to_string(i);
      parameters += (i ? ", " : "") + types.declare(declared->getParamDecl(i)->getType(), name);
      arguments += (arguments.empty() ? "" : ", ") + name;
    }
    std::string before, after, name = declared->getNameAsString();
    if (method) name = types.spell(context.getRecordType(method->getParent())) + "::" + name;
    for (const DeclContext* c = f->getDeclContext()->getRedeclContext(); !method && !c->isTranslationUnit();
         c = c->getParent()->getRedeclContext()) {
      const auto* space = cast<NamespaceDecl>(c);
      before = std::string(space->isInline() ? "inline " : "") + "namespace " + space->getName().str() +
               " { " + before;
      after += " }";
    }
    const std::string key = types.spell(type);
    text += before + (declared->isExternC() ? "extern \"C\" " : "") +
            (declared->isExternallyVisible() ? "__attribute__((weak)) " : "") +
            types.spell(declared->getReturnType()) + " " + name + "(" + parameters + ")" +
            (of_object && method->isConst() ? " const" : "") + " { return clad::derivative<" + key +
            ", clad::derivative_kind::" + (request.kind == Request::Gradient ? "gradient" : "derivative") +
            ">(static_cast<" + key + ">(&" + spell_function(f, types) + "), " + request.entry +
            ", {}).execute(" + arguments + "); }" + after + "\n";
  }
  return text;
}

}  // namespace clad
