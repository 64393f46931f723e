#include "rules.h"

#include <algorithm>

#include "clang/AST/DeclCXX.h"
#include "compat.h"
#include "frontend.h"
#include "inline.h"

using namespace clang;

namespace clad {

using ir::Stmt;

/// The name that a function is marked with as a pattern; empty if it is not.
static std::string replacement_name(const FunctionDecl* f) {
  for (const AnnotateAttr* attr : f->specific_attrs<AnnotateAttr>()) {
    if (attr->getAnnotation() != "clad::pattern" || attr->args_size() != 1) continue;
    const clang::Expr* arg = *attr->args_begin();
    while (const auto* c = dyn_cast<ConstantExpr>(arg)) arg = c->getSubExpr();
    if (const auto* text = dyn_cast<StringLiteral>(arg->IgnoreParenImpCasts()))
      return text->getString().str();
  }
  return "";
}

bool is_commutative(const FunctionDecl* f) {
  return std::any_of(f->redecls_begin(), f->redecls_end(),
                     [](const FunctionDecl* d) { return compat::annotated(d, "clad::commutative"); });
}

/// Whether the first two arguments of a function can be exchanged at all.
static bool can_commute(const FunctionDecl* f) {
  return !isa<CXXMethodDecl>(f) && f->getNumParams() >= 2 &&
         f->getASTContext().hasSameType(f->getParamDecl(0)->getType(), f->getParamDecl(1)->getType());
}

const ir::Expr* Rule::value(const ir::Expr* e) const {
  while (e->kind == ir::Expr::VarRef) {
    auto it = defined.find(e->var);
    if (it == defined.end() || it->second->kind != Stmt::Decl) break;
    e = it->second->expr;
  }
  return e;
}

const Stmt* Rule::call(const ir::Expr* e) const {
  e = value(e);
  auto it = e->kind == ir::Expr::VarRef ? defined.find(e->var) : defined.end();
  return it == defined.end() ? nullptr : it->second;
}

std::string Rule::name() const { return pattern->getNameAsString(); }

bool Rules::refuse(const FunctionDecl* pattern, const std::string& why) {
  diagnose_.error(pattern->getLocation(), "fusion rule '" + pattern->getNameAsString() + "': " + why);
  return false;
}

void Rules::add(const FunctionDecl* pattern) {
  if (pattern->isTemplated() || pattern->isTemplateInstantiation()) {
    refuse(pattern, "a template cannot be a pattern: write one for the types that matter");
    return;
  }
  auto rule = std::make_unique<Rule>();
  rule->pattern = pattern;
  if (!find_replacement(*rule) || !check_parameters(*rule)) return;
  parts_.insert(rule->pattern->getCanonicalDecl());
  parts_.insert(rule->replacement->getCanonicalDecl());
  std::set<const FunctionDecl*> callees;
  const unsigned errors = diagnose_.errors();
  rule->body = lower(pattern, diagnose_, callees);
  callees.erase(pattern->getCanonicalDecl());
  in_patterns_.insert(callees.begin(), callees.end());
  if (diagnose_.errors() != errors || !check_body(*rule)) return;
  const auto place =
      std::find_if(rules_.begin(), rules_.end(), [&](const auto& other) { return other->size < rule->size; });
  rules_.insert(place, std::move(rule));
}

/// Looks for the function outwards from the pattern's namespace.
bool Rules::find_replacement(Rule& rule) {
  const FunctionDecl* pattern = rule.pattern;
  const std::string name = replacement_name(pattern);
  if (isa<CXXMethodDecl>(pattern)) return refuse(pattern, "a pattern is a function, not a member");
  const IdentifierInfo& id = sema_.Context.Idents.get(name);
  const FunctionDecl* other = nullptr;
  for (const DeclContext* c = pattern->getDeclContext(); c; c = c->getParent())
    for (const NamedDecl* d : c->lookup(&id)) {
      const auto* f = dyn_cast<FunctionDecl>(d->getUnderlyingDecl());
      if (!f) continue;
      if (!sema_.Context.hasSameFunctionTypeIgnoringExceptionSpec(f->getType(), pattern->getType())) {
        if (!other) other = f;
        continue;
      }
      if (f->getCanonicalDecl() == pattern->getCanonicalDecl())
        return refuse(pattern, "the pattern names itself as its replacement");
      if (!rule.replacement) rule.replacement = f;
    }
  if (rule.replacement) return true;
  if (!other) return refuse(pattern, "there is no function '" + name + "' to call in its place");
  refuse(pattern, "'" + name + "' must have the same parameters and the same result");
  diagnose_.note(other->getLocation(), "declared here");
  return false;
}

bool Rules::check_parameters(Rule& rule) {
  for (const ParmVarDecl* p : rule.pattern->parameters()) {
    rule.constant.push_back(compat::annotated(p, "clad::constant"));
    const QualType type = p->getType();
    const ir::Type* t = types_.get(type);
    const bool constant = !type->isReferenceType() || type->getPointeeType().isConstQualified();
    if (!constant || type->isRValueReferenceType() || t->kind == ir::Type::Pointer || t->has_pointer ||
        t->reaches_state || t->kind == ir::Type::Closure)
      return refuse(rule.pattern, "parameter '" + p->getNameAsString() +
                                      "' must be a value or a const reference, and hold no pointers");
  }
  return true;
}

/// Finds the outputs, and that the parameters can be found from them.
bool Rules::check_body(Rule& rule) {
  if (!is_straight(*rule.body))
    return refuse(
        rule.pattern,
        "a pattern consists of declarations and one return, without loops, branches and assignments");
  std::set<const ir::Var*> parameters;
  for (const ir::Parameter& p : rule.body->params) parameters.insert(p.var);
  for (const Stmt* s : rule.body->body)
    if (s->var) rule.defined[s->var] = s;
  const ir::Expr* result = rule.value(rule.body->body.back()->expr);
  rule.several = result->kind == ir::Expr::InitList && result->type->kind == ir::Type::Record;
  rule.outputs.assign(1, result);
  if (rule.several) rule.outputs.assign(result->args.begin(), result->args.end());
  std::set<const ir::Var*> reached;
  std::set<const Stmt*> used;
  std::function<void(const ir::Expr*)> reach = [&](const ir::Expr* e) {
    if (e->var && reached.insert(e->var).second)
      if (auto it = rule.defined.find(e->var); it != rule.defined.end()) {
        used.insert(it->second);
        if (it->second->expr) reach(it->second->expr);
        if (it->second->call)
          for (const ir::CallInfo::Arg& a : it->second->call->args) reach(a.expr);
      }
    for (const ir::Expr* a : e->args) reach(a);
  };
  for (const ir::Expr* output : rule.outputs) {
    const ir::Expr* e = rule.value(output);
    if (e->kind == ir::Expr::VarRef && parameters.count(e->var) != 0)
      return refuse(rule.pattern,
                    "the pattern would match anything: it returns its parameter '" + e->var->name + "'");
    if (rule.several && !rule.call(output))
      return refuse(rule.pattern, "each of several results must be what a call returns");
    reach(output);
  }
  for (const Stmt* s : rule.body->body) {
    if (s->kind == Stmt::AliasDecl)
      return refuse(rule.pattern, "a pattern declares no references: name the value itself");
    if (s->kind != Stmt::Return && used.count(s) == 0 &&
        !(s->var && s->var->type == result->type && rule.several))
      return refuse(rule.pattern, "the pattern computes what it does not return");
    if (s->kind != Stmt::CallStmt) continue;
    const auto* callee = static_cast<const FunctionDecl*>(s->call->callee);
    rule.operations += (rule.operations.empty() ? "" : " + ") + callee->getNameAsString();
    if (is_commutative(callee) && !can_commute(callee))
      return refuse(rule.pattern, "'" + callee->getNameAsString() +
                                      "' is marked CLAD_COMMUTATIVE, which takes a function, not a member, "
                                      "whose first two parameters have one type");
    if (s->call->checkpoint) return refuse(rule.pattern, "a pattern cannot ask for a checkpoint");
    ++rule.size;
  }
  for (const ir::Parameter& p : rule.body->params)
    if (reached.count(p.var) == 0)
      return refuse(rule.pattern,
                    "nothing says what its parameter '" + p.var->name + "' is: the pattern does not use it");
  if (rule.body->params.empty()) return refuse(rule.pattern, "the pattern computes nothing");
  if (rule.operations.empty()) rule.operations = rule.name();
  return true;
}

std::unique_ptr<ir::Function> Rules::lower(const FunctionDecl* f, Diagnose& diagnose,
                                           std::set<const FunctionDecl*>& callees) {
  auto fn = std::make_unique<ir::Function>();
  fn->name = f->getNameAsString();
  fn->primal_name = display_name(f);
  Frontend frontend(sema_, types_, diagnose, lookup_, *fn, nullptr, nullptr);
  frontend.lower(f);
  callees = frontend.callees();
  callees.insert(f->getCanonicalDecl());
  return fn;
}

/// Whether a body may be straight, before it is lowered.
static bool looks_straight(const FunctionDecl* f) {
  const auto* body = dyn_cast_or_null<CompoundStmt>(f->getBody());
  if (!body || body->body_empty() || !isa<ReturnStmt>(body->body_back())) return false;
  for (const clang::Stmt* s : body->body())
    if (s != body->body_back() && !isa<DeclStmt>(s)) return false;
  return true;
}

const ir::Function* Rules::straight_body(const FunctionDecl* f) {
  const auto [place, fresh] = bodies_.try_emplace(f->getCanonicalDecl());
  Body& body = place->second;
  if (!fresh) return body.fn.get();
  const FunctionDecl* definition = nullptr;
  const auto* method = dyn_cast<CXXMethodDecl>(f);
  if (compat::in_std(f) || !f->hasBody(definition) || isa<CXXConstructorDecl>(f) || f->isVariadic() ||
      (method && method->getParent()->isLambda()) || compat::annotated(f, "non_differentiable") ||
      is_checkpointed(f) || !looks_straight(definition) || lookup_.named(f))
    return nullptr;
  Diagnose nobody = quiet();
  body.fn = lower(definition, nobody, body.callees);
  if (nobody.failed() || !is_straight(*body.fn)) body.fn = nullptr;
  return body.fn.get();
}

Stmt* Rules::replace(const Rule& rule, ir::Function& fn, const std::vector<ir::Expr*>& args, const Stmt* at) {
  const FunctionDecl* f = rule.replacement;
  Stmt* s = fn.stmt(Stmt::CallStmt, at->loc, at->source);
  s->call = std::make_unique<ir::CallInfo>();
  ir::CallInfo& call = *s->call;
  call.callee = f;
  call.name = spell_function(f, types_);
  call.primal = fn.make(ir::Expr::Call, types_.get(f->getReturnType()), call.name);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const QualType type = f->getParamDecl(static_cast<unsigned>(i))->getType();
    ir::CallInfo::Arg a;
    a.expr = args[i];
    a.param_type = types_.get(type);
    a.copied = type->isRecordType();
    a.reference = type->isReferenceType() || a.copied;
    call.args.push_back(a);
    call.primal->args.push_back(a.expr);
  }
  return s;
}

}  // namespace clad
