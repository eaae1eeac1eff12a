//! Who gets which answer, and what has happened so far.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Parser;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt, BufReader};
use tokio::net::TcpStream;

use crate::answer;
use crate::echo::Echo;
use crate::fault::Fault;
use crate::http::{Request, Response};

/// A server of models that speaks chat completions, with answers that can be foretold and faults on demand
#[derive(Parser)]
pub(crate) struct Options {
    /// The port; 0 takes a free one, which is printed
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// How long each answer takes
    #[arg(long, default_value_t = 0, value_name = "MS")]
    delay_ms: u64,
    /// What goes wrong with every request, or with those that the other options choose
    #[arg(long, value_name = "KIND")]
    fault: Option<Fault>,
    /// Only the first requests with one and the same conversation go wrong
    #[arg(long, value_name = "N")]
    fault_first: Option<u64>,
    /// A share of requests goes wrong, in one way or another if --fault names none
    #[arg(long, value_name = "SHARE")]
    fault_rate: Option<f64>,
    /// Where the choice of that share starts from
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    fault_seed: u64,
    /// The value of the header Retry-After
    #[arg(long, default_value = "1", value_name = "TEXT")]
    retry_after: String,
    /// How long a slow answer takes
    #[arg(long, default_value_t = 60_000, value_name = "MS")]
    slow_ms: u64,
    /// Where a redirect leads
    #[arg(long, default_value = "http://127.0.0.1:9/v1", value_name = "URL")]
    redirect_to: String,
    /// More requests at once are too many
    #[arg(long, value_name = "N")]
    max_concurrent: Option<u64>,
    /// Requests without this key are refused, with a message that repeats it and the key that came
    #[arg(long, value_name = "KEY")]
    require_key: Option<String>,
    /// The key that came is repeated in answers, or in refusals if there is --require-key, written in this way
    #[arg(long, value_name = "WAY")]
    echo_key: Option<Echo>,
}

pub(crate) struct Server {
    pub(crate) options: Options,
    stats: Mutex<Stats>,
}

#[derive(Default)]
struct Stats {
    connections: u64,
    requests: u64,
    in_flight: u64,
    in_flight_max: u64,
    by_fault: BTreeMap<String, u64>,
    /// How often a conversation has come.
    attempts: HashMap<u64, u64>,
    last_body: Json,
}

/// A request that is being answered.
struct InFlight<'a>(&'a Server);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.stats().in_flight -= 1;
    }
}

impl Server {
    pub(crate) fn new(options: Options) -> Self {
        Server { options, stats: Mutex::default() }
    }

    fn stats(&self) -> MutexGuard<'_, Stats> {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers whatever comes over a connection.
    pub(crate) async fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        let mut stream = BufReader::new(stream);
        self.stats().connections += 1;
        while let Some(request) = Request::read(&mut stream).await? {
            let is_open = match (request.method.as_str(), request.path.as_str()) {
                ("GET", "/stats") => {
                    Response::new(200, self.report()).write(&mut stream).await?;
                    // So that the client can read to the end.
                    false
                }
                ("POST", path) if path.ends_with("/chat/completions") => {
                    self.chat(&request, &mut stream).await?
                }
                _ => {
                    let message = format!("There is nothing at {}.", request.path);
                    let body = json!({"error": {"message": message}});
                    Response::new(404, body).write(&mut stream).await?
                }
            };
            if !is_open {
                break;
            }
        }
        Ok(())
    }

    fn report(&self) -> Json {
        let stats = self.stats();
        json!({
            "connections": stats.connections,
            "requests": stats.requests,
            "in_flight_max": stats.in_flight_max,
            "by_fault": stats.by_fault,
            "last_body": stats.last_body,
        })
    }

    /// Answers a request, or does with it what the options specify.
    async fn chat(&self, request: &Request, stream: &mut BufReader<TcpStream>) -> std::io::Result<bool> {
        let Ok(body) = serde_json::from_slice::<Json>(&request.body) else {
            let body = json!({"error": {"message": "The body is no JSON."}});
            return Response::new(400, body).write(stream).await;
        };
        let (attempt, is_too_many) = self.count(&body);
        let _in_flight = InFlight(self);
        if let Some(refusal) = self.refusal(request) {
            self.went_wrong("key");
            return refusal.write(stream).await;
        }
        let answer = match self.options.echo_key {
            Some(echo) => echo.into_answer(&answer::completion(&body), sent_key(request)),
            None => Response::new(200, answer::completion(&body)),
        };
        let fault = if is_too_many { Some(Fault::RateLimited) } else { self.fault(&body, attempt) };
        let mut wait = Duration::from_millis(self.options.delay_ms);
        if fault == Some(Fault::Slow) {
            wait += Duration::from_millis(self.options.slow_ms);
        }
        if !wait.is_zero() {
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                // Nothing comes before the answer but the end.
                _ = stream.read_u8() => return Ok(false),
            }
        }
        let Some(fault) = fault else { return answer.write(stream).await };
        self.went_wrong(if is_too_many { "too-many".to_owned() } else { fault.name() }.as_str());
        if let (Fault::KeyCutOff, Some(echo)) = (fault, self.options.echo_key) {
            return echo.into_cut_off(sent_key(request)).write(stream).await;
        }
        fault.instead_of(answer, &self.options.retry_after, &self.options.redirect_to).write(stream).await
    }

    /// Counts a request; how often its conversation had come before, and whether there are too many at once.
    fn count(&self, body: &Json) -> (u64, bool) {
        let mut stats = self.stats();
        stats.requests += 1;
        stats.in_flight += 1;
        stats.in_flight_max = stats.in_flight_max.max(stats.in_flight);
        stats.last_body = body.clone();
        let is_too_many = self.options.max_concurrent.is_some_and(|most| stats.in_flight > most);
        let times = stats.attempts.entry(hash(&conversation(body))).or_default();
        *times += 1;
        (*times - 1, is_too_many)
    }

    fn went_wrong(&self, what: &str) {
        *self.stats().by_fault.entry(what.to_owned()).or_default() += 1;
    }

    /// For a wrong key. The message repeats both, as a careless server might.
    fn refusal(&self, request: &Request) -> Option<Response> {
        let wanted = self.options.require_key.as_ref()?;
        let found = sent_key(request);
        if let Some(echo) = self.options.echo_key.filter(|_| found != wanted) {
            return Some(echo.into_refusal(found));
        }
        let message = format!("Incorrect API key provided: {found}. It is not {wanted}.");
        (found != wanted).then(|| Response::new(401, json!({"error": {"message": message}})))
    }

    /// What goes wrong with the request that is the `attempt`th with its conversation, from 0 on.
    fn fault(&self, body: &Json, attempt: u64) -> Option<Fault> {
        let options = &self.options;
        if options.fault_first.is_some_and(|first| attempt >= first) {
            return None;
        }
        let Some(rate) = options.fault_rate else { return options.fault };
        let draw = hash(&(options.fault_seed, conversation(body), attempt));
        // The upper bits decide whether, and the lower ones which.
        let is_chosen = ((draw >> 32) as f64) < rate * f64::from(u32::MAX);
        let any = Fault::PASSING.iter().cycle().nth((draw & 0xff) as usize).copied();
        options.fault.or(any).filter(|_| is_chosen)
    }
}

/// The key that came with a request.
fn sent_key(request: &Request) -> &str {
    request.authorization.as_deref().and_then(|text| text.strip_prefix("Bearer ")).unwrap_or("")
}

fn conversation(body: &Json) -> String {
    format!("{:?} {:?}", body.get("model"), body.get("messages"))
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
