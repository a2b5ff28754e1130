//! Signatures: template parameters, parameters, and the position of the body.

use super::types::Specifiers;
use super::{Parsed, Parser, Stuck};
use crate::syntax::ast::{Base, Function, INTERNAL, Param, Signature, TemplateArg, TemplateParam, Type};
use crate::syntax::files::Span;
use crate::syntax::sym::{self, Sym};
use std::sync::{Arc, OnceLock};

impl Parser<'_> {
    pub(super) fn template_params(&mut self) -> Parsed<Vec<TemplateParam>> {
        self.want(sym::TEMPLATE)?;
        self.want(sym::LT)?;
        self.angle = true;
        let mut params = Vec::new();
        while !self.at(sym::GT) {
            let param = self.template_param();
            let Ok(param) = param else {
                self.angle = false;
                return Err(Stuck);
            };
            params.push(param);
            if !self.eat(sym::COMMA) {
                break;
            }
        }
        self.angle = false;
        self.want(sym::GT)?;
        Ok(params)
    }

    fn template_param(&mut self) -> Parsed<TemplateParam> {
        let mut declared = None;
        let mut within = None;
        let is_type = (self.at(sym::TYPENAME) || self.at(sym::CLASS)) && !self.at_ahead(2, sym::SCOPE);
        if is_type {
            self.pos += 1;
        } else if self.at(sym::TEMPLATE) {
            return Err(Stuck);
        } else {
            let (mut ty, name) = self.type_around()?;
            within = name;
            if self.at(sym::LPAREN) {
                ty.base = Base::Function;
                self.skip_balanced();
            }
            declared = Some(ty);
        }
        let pack = self.eat(sym::ELLIPSIS);
        let name = if self.is_ident(0) { Some(self.ident()?) } else { within };
        self.declare(name);
        if let (Some(name), true) = (name, is_type) {
            self.local_types.push(name);
        }
        let default = if self.eat(sym::ASSIGN) { Some(self.template_arg()?) } else { None };
        Ok(TemplateParam { name, is_type, ty: declared, default, pack })
    }

    pub(super) fn function(
        &mut self,
        name: Sym,
        mut ret: Type,
        mut specifiers: Specifiers,
        templates: Vec<TemplateParam>,
        special: Option<Vec<TemplateArg>>,
        start: Span,
    ) -> Parsed<Function> {
        let of = self.outlined.take();
        let (mut params, variadic) = self.params()?;
        for param in &mut params {
            param.slot = self.declare(param.name);
        }
        let span = self.since(start);
        let mut inits = None;
        let mut body = None;
        loop {
            let Some(tok) = self.peek() else { return Err(Stuck) };
            match tok.sym {
                sym::SEMI => {
                    self.pos += 1;
                    break;
                }
                sym::ASSIGN => {
                    self.recover();
                    break;
                }
                sym::LBRACE => {
                    let from = self.pos + 1;
                    self.skip_balanced();
                    body = Some(from..self.pos.saturating_sub(1).max(from));
                    break;
                }
                sym::COLON => {
                    let from = self.pos + 1;
                    self.pos = from;
                    // name(...) or name{...}, separated by commas; the body's brace follows a closing bracket.
                    while self.is_ident(0) {
                        while self.is_ident(0) || self.at(sym::SCOPE) {
                            self.pos += 1;
                        }
                        self.skip_balanced();
                        if !self.eat(sym::COMMA) {
                            break;
                        }
                    }
                    inits = Some(from..self.pos);
                    if !self.at(sym::LBRACE) {
                        return Err(Stuck);
                    }
                }
                sym::ARROW => {
                    self.pos += 1;
                    ret = self.type_id()?;
                }
                sym::CONST | sym::NOEXCEPT | sym::OVERRIDE | sym::FINAL | sym::AMP | sym::ANDAND => self.pos += 1,
                sym::LPAREN => self.skip_balanced(),
                _ => {
                    let before = self.pos;
                    self.skip_attributes(&mut specifiers);
                    if self.pos == before {
                        return Err(Stuck);
                    }
                }
            }
        }
        let owner = self.fields.clone();
        let home = self.home.zip(body.clone());
        params.shrink_to_fit();
        let attrs = specifiers.attrs | if self.hidden { INTERNAL } else { 0 };
        Ok(Function {
            signature: Arc::new(Signature { name, templates, special, params, variadic, attrs, ret, span, of }),
            unit: self.unit,
            space: self.space,
            body,
            home,
            inits,
            owner,
            parsed: OnceLock::new(),
        })
    }

    pub(super) fn params(&mut self) -> Parsed<(Vec<Param>, bool)> {
        self.want(sym::LPAREN)?;
        let (angle, configured) = (std::mem::take(&mut self.angle), std::mem::take(&mut self.configured));
        let mut params = Vec::new();
        let mut variadic = false;
        if self.at(sym::VOID) && self.at_ahead(1, sym::RPAREN) {
            self.pos += 1;
        }
        while !self.at(sym::RPAREN) {
            if self.eat(sym::ELLIPSIS) {
                variadic = true;
                break;
            }
            params.push(self.param()?);
            if !self.eat(sym::COMMA) {
                break;
            }
        }
        (self.angle, self.configured) = (angle, configured);
        self.want(sym::RPAREN)?;
        Ok((params, variadic))
    }

    fn param(&mut self) -> Parsed<Param> {
        let mut specifiers = Specifiers::default();
        let mut ty = self.specified_type(&mut specifiers)?;
        self.stars(&mut ty);
        let pack = self.eat(sym::ELLIPSIS);
        self.skip_attributes(&mut specifiers);
        let mut name = None;
        if self.at(sym::LPAREN) {
            // A pointer to a function: ret (*name)(params).
            self.pos += 1;
            let reference = self.at(sym::AMP) || self.at(sym::ANDAND);
            while self.eat(sym::STAR) || self.eat(sym::AMP) || self.eat(sym::ANDAND) || self.eat(sym::CONST) {}
            if self.is_ident(0) {
                name = Some(self.ident()?);
            }
            self.want(sym::RPAREN)?;
            // An array by reference, or a pointer to one: `int (&name)[2]`.
            if self.at(sym::LBRACKET) {
                ty.reference |= reference;
                self.dims(&mut ty)?;
            } else {
                self.skip_balanced();
                ty.base = Base::Function;
            }
        } else if self.is_ident(0) {
            name = Some(self.ident()?);
        }
        self.skip_attributes(&mut specifiers);
        self.dims(&mut ty)?;
        let default = match self.eat(sym::ASSIGN) {
            true if self.at(sym::LBRACE) => Some(self.init_list()?),
            true => Some(self.assignment()?),
            false => None,
        };
        Ok(Param { slot: 0, name, ty, default, pack })
    }
}
