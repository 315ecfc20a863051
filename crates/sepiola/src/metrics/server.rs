//! The HTTP side: one path, few connections, short deadlines. Whoever reaches the address may read it.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode, body::Bytes, body::Incoming, header, server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};

use super::{collect, exposition};
use crate::{admin::Admin, places::Places};

/// Scrapers at once; one more takes the place of the oldest.
const CONNECTIONS: usize = 32;
/// From a connection's start to its end, however many requests it has.
const LIFE: Duration = Duration::from_secs(10);
/// Until a request's head is there.
const HEAD: Duration = Duration::from_secs(2);
/// Longer heads are no scraper's.
const MAX_HEAD: usize = 8 << 10;

/// Binds `addr`.
pub async fn bind(addr: SocketAddr) -> std::io::Result<TcpListener> {
    TcpListener::bind(addr).await
}

/// Answers scrapers as long as it is polled.
pub async fn serve(listener: TcpListener, admin: Arc<Admin>) {
    let mut places = Places::new(CONNECTIONS);
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            // Out of descriptors, say; that passes.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let admin = admin.clone();
        places.serve(async move {
            match timeout(LIFE, connection(stream, admin)).await {
                Ok(Ok(())) | Err(_) => {}
                Ok(Err(error)) => tracing::debug!(%peer, %error, "scrape"),
            }
        });
    }
}

async fn connection(stream: TcpStream, admin: Arc<Admin>) -> Result<(), hyper::Error> {
    let service = service_fn(|request: Request<Incoming>| {
        let response = answer(&request, &admin);
        async { Ok::<_, Infallible>(response) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MAX_HEAD)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service)
        .await
}

fn answer(request: &Request<Incoming>, admin: &Admin) -> Response<Full<Bytes>> {
    let plain = |status, text: &'static str| {
        let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
        *response.status_mut() = status;
        response
    };
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/metrics") => {}
        (_, "/metrics") => return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET\n"),
        _ => return plain(StatusCode::NOT_FOUND, "only /metrics\n"),
    }
    match exposition::text(collect::metrics(admin.daemon(), &admin.name())) {
        Ok(text) => {
            let mut response = Response::new(Full::new(Bytes::from(text)));
            let kind = header::HeaderValue::from_static(
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
            );
            response.headers_mut().insert(header::CONTENT_TYPE, kind);
            response
        }
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "no text\n"),
    }
}
