//! The parser of data transform expressions.

use super::{Constant, Expression, Operator};
use crate::error::{Failure, Outcome, codes};

/// The greatest depth of parentheses and signs in an expression.
const MAX_DEPTH: usize = 64;
/// The greatest number of operators in an expression.
const MAX_OPERATORS: usize = 1000;

/// A parser at a position of an expression's text.
#[derive(Debug)]
struct Parser<'a> {
    /// The text that the parser has not read yet.
    rest: &'a [u8],
    /// The number of operators so far.
    operators: usize,
}

/// Returns the expression that a text contains. Any name stands for the element.
///
/// # Errors
/// Fails if the text is not an expression, or if the expression is too large.
pub(super) fn parse(text: &[u8]) -> Outcome<Expression> {
    let mut parser = Parser { rest: text, operators: 0 };
    let expression = parser.sum(0)?;
    match parser.peek() {
        None => Ok(expression),
        Some(_) => Err(refused("an operator is missing in the data transform expression")),
    }
}

/// Returns the failure for an expression that is not valid.
fn refused(reason: &'static str) -> Failure {
    Failure::new(codes::PLINE, codes::BADVALUE, reason)
}

impl Parser<'_> {
    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.first().copied()
    }

    /// Skips the next byte and returns it if `choose` maps it to an operator.
    fn operator(&mut self, choose: fn(u8) -> Option<Operator>) -> Outcome<Option<Operator>> {
        let Some(operator) = self.peek().and_then(choose) else { return Ok(None) };
        self.skip(1);
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            return Err(refused("the data transform expression has more than 1000 operators"));
        }
        Ok(Some(operator))
    }

    /// Skips `count` bytes.
    fn skip(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or(&[]); // The end of the text.
    }

    /// Reads terms that `+` and `-` join.
    fn sum(&mut self, depth: usize) -> Outcome<Expression> {
        if depth > MAX_DEPTH {
            return Err(refused("the data transform expression is nested more than 64 levels deep"));
        }
        let mut left = self.product(depth)?;
        let choose = |byte| match byte {
            b'+' => Some(Operator::Add),
            b'-' => Some(Operator::Subtract),
            _ => None,
        };
        while let Some(operator) = self.operator(choose)? {
            left = join(operator, left, self.product(depth)?)?;
        }
        Ok(left)
    }

    /// Reads factors that `*` and `/` join.
    fn product(&mut self, depth: usize) -> Outcome<Expression> {
        let mut left = self.factor(depth)?;
        let choose = |byte| match byte {
            b'*' => Some(Operator::Multiply),
            b'/' => Some(Operator::Divide),
            _ => None,
        };
        while let Some(operator) = self.operator(choose)? {
            left = join(operator, left, self.factor(depth)?)?;
        }
        Ok(left)
    }

    /// Reads a number, a name, an expression in parentheses, or one of them with a sign.
    fn factor(&mut self, depth: usize) -> Outcome<Expression> {
        match self.peek() {
            Some(b'(') => {
                self.skip(1);
                let inner = self.sum(depth + 1)?;
                if self.peek() != Some(b')') {
                    return Err(refused("a closing parenthesis is missing in the data transform expression"));
                }
                self.skip(1);
                Ok(inner)
            }
            Some(sign @ (b'+' | b'-')) => {
                self.skip(1);
                if depth > MAX_DEPTH {
                    return Err(refused("the data transform expression has more than 64 signs in a row"));
                }
                let inner = self.factor(depth + 1)?;
                match sign {
                    b'-' => join(Operator::Multiply, Expression::Constant(Constant::Integer(-1)), inner),
                    _ => Ok(inner),
                }
            }
            Some(byte) if byte.is_ascii_alphabetic() => {
                self.skip(self.rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count());
                Ok(Expression::Element)
            }
            Some(byte) if byte.is_ascii_digit() || byte == b'.' => self.number(),
            Some(_) => Err(refused("a character has no meaning in a data transform expression")),
            None => Err(refused("the data transform expression ends before an operand")),
        }
    }

    /// Reads a number without a sign.
    fn number(&mut self) -> Outcome<Expression> {
        let mut length = 0;
        let mut previous = 0;
        for byte in self.rest {
            let signs_exponent = matches!(byte, b'+' | b'-') && matches!(previous, b'e' | b'E');
            if !(byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E') || signs_exponent) {
                break;
            }
            length += 1;
            previous = *byte;
        }
        let text = self.rest.get(..length).and_then(|text| std::str::from_utf8(text).ok());
        let constant = text.and_then(|text| match text.parse() {
            Ok(integer) => Some(Constant::Integer(integer)),
            Err(_) => text.parse().ok().map(Constant::Float),
        });
        self.skip(length);
        constant
            .map(Expression::Constant)
            .ok_or_else(|| refused("a number of the data transform expression is not valid"))
    }
}

/// Returns the expression that applies `operator`. Two constants become one constant.
fn join(operator: Operator, left: Expression, right: Expression) -> Outcome<Expression> {
    match (left, right) {
        (Expression::Constant(left), Expression::Constant(right)) => {
            let value = operator.of_constants(left, right);
            value.map(Expression::Constant).ok_or_else(|| {
                refused("the data transform expression divides an integer by zero, or exceeds 64 bits")
            })
        }
        (left, right) => Ok(Expression::Operation(operator, Box::new((left, right)))),
    }
}
