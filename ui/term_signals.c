#include "term_signals.h"

#include "bug.h"
#include "mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static const int soft[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT};
static const int always[] = {SIGQUIT, SIGSEGV, SIGABRT, SIGFPE, SIGILL}; /* hard, whoever had them before */
static const int not_hard[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGURG, SIGTTIN, SIGTTOU, SIGALRM, SIGBUS};

#define COUNT(a)    (sizeof(a) / sizeof *(a))
#define SOFT_COUNT  COUNT(soft)
#define NUMBERS     128   /* signals have numbers below */
#define PATIENCE    4     /* seconds that the program has to end after SIGINT, SIGTERM or SIGHUP */
#define STACK_BYTES 65536 /* a stack that has run over needs another one */

static struct {
    int pipe[2];
    volatile sig_atomic_t news[SOFT_COUNT];
    volatile sig_atomic_t given_back;
    volatile sig_atomic_t last; /* that asked to end */
    struct sigaction before_soft[SOFT_COUNT], before_hard[NUMBERS], before_alarm;
    bool caught[NUMBERS]; /* hard ones */
    int fd;               /* -1: nothing to restore */
    struct termios settings;
    char bytes[512];
    size_t count;
    bool active;
} signals = {.pipe = {-1, -1}, .fd = -1};

static char signal_stack[STACK_BYTES];

/* ---- handlers: async-signal-safe calls only ---- */

static void soft_handler(int number) {
    int saved = errno;
    for (size_t i = 0; i < SOFT_COUNT; i++)
        if (soft[i] == number) signals.news[i] = 1;
    ssize_t written = write(signals.pipe[1], "", 1); /* full: it is readable anyway */
    (void)written;
    if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
        if (signals.last == 0) alarm(PATIENCE); /* another one does not put it off */
        signals.last = number;
    }
    errno = saved;
}

static void hard_handler(int number) {
    signals_give_back();
    signal(number, SIG_DFL);
    raise(number);
}

/* Whoever polls did not come: most likely it waits for a terminal that nobody reads, which can take no bytes either. */
static void patience_handler(int number) {
    if (signals.last == 0) { /* it is not ours */
        hard_handler(number);
        return;
    }
    if (signals.fd >= 0) tcsetattr(signals.fd, TCSANOW, &signals.settings);
    signal(signals.last, SIG_DFL);
    raise(signals.last);
}

void signals_give_back(void) {
    if (signals.given_back || signals.fd < 0) return;
    signals.given_back = 1;
    for (size_t at = 0; at < signals.count;) {
        ssize_t n = write(signals.fd, signals.bytes + at, signals.count - at);
        if (n < 0 && errno != EINTR) break;
        if (n > 0) at += (size_t)n;
    }
    tcsetattr(signals.fd, TCSANOW, &signals.settings);
}

/* ---- */

bool signals_gave_back(void) {
    return signals.given_back != 0;
}

static void catch (int number, void (*handler)(int), int flags, struct sigaction *before) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGTTOU); /* in the background the settings are restored all the same */
    sigaction(number, &action, before);
}

static bool is_among(int number, const int *list, size_t n) {
    size_t i = 0;
    while (i < n && list[i] != number) i++;
    return i < n;
}

/* Every signal that would end the program. One that somebody else ignores or handles is left to him, but for some. */
static void catch_hard(void) {
    for (int number = 1; number <= SIGRTMAX && number < NUMBERS; number++) {
        struct sigaction now;
        signals.caught[number] = false;
        if (is_among(number, soft, SOFT_COUNT) || is_among(number, not_hard, COUNT(not_hard))) continue;
        if (sigaction(number, NULL, &now) != 0) continue; /* the C library keeps some to itself */
        if (now.sa_handler != SIG_DFL && !is_among(number, always, COUNT(always))) continue;
        catch (number, hard_handler, (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK), &signals.before_hard[number]);
        signals.caught[number] = true;
    }
    mapping_set_fault(hard_handler);
}

static void leave_hard(void) {
    for (int number = 1; number < NUMBERS; number++)
        if (signals.caught[number]) sigaction(number, &signals.before_hard[number], NULL);
    mapping_set_fault(NULL);
}

static bool open_pipe(void) {
    if (pipe(signals.pipe) != 0) return false;
    for (int i = 0; i < 2; i++) {
        fcntl(signals.pipe[i], F_SETFL, O_NONBLOCK);
        fcntl(signals.pipe[i], F_SETFD, FD_CLOEXEC);
    }
    return true;
}

Status signals_begin(void) {
    BUG_ON(signals.active);
    if (!open_pipe()) return status_failed("no pipe for signals: %s", strerror(errno));
    signals.active = true;
    signals.given_back = 0;
    signals.last = 0;
    signals.fd = -1;
    stack_t stack;
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = signal_stack;
    stack.ss_size = sizeof signal_stack;
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < SOFT_COUNT; i++) {
        signals.news[i] = 0;
        catch (soft[i], soft_handler, SA_RESTART, &signals.before_soft[i]);
    }
    catch (SIGALRM, patience_handler, 0, &signals.before_alarm);
    catch_hard();
    return status_ok();
}

void signals_set_restore(int fd, const char *bytes, size_t count) {
    signals.count = count < sizeof signals.bytes ? count : sizeof signals.bytes;
    memcpy(signals.bytes, bytes, signals.count);
    if (tcgetattr(fd, &signals.settings) == 0) signals.fd = fd;
}

int signals_fd(void) {
    return signals.pipe[0];
}

static bool take(int number) {
    for (size_t i = 0; i < SOFT_COUNT; i++) {
        if (soft[i] != number || !signals.news[i]) continue;
        signals.news[i] = 0;
        return true;
    }
    return false;
}

SignalNews signals_take(void) {
    char drained[64];
    while (read(signals.pipe[0], drained, sizeof drained) > 0) {}
    SignalNews news = {0};
    if (take(SIGINT)) news.quit = SIGINT;
    if (take(SIGTERM)) news.quit = SIGTERM;
    if (take(SIGHUP)) news.quit = SIGHUP;
    news.resize = take(SIGWINCH);
    news.stop = take(SIGTSTP);
    news.resume = take(SIGCONT);
    return news;
}

void signals_stop_process(void) {
    struct sigaction ours;
    catch (SIGTSTP, SIG_DFL, 0, &ours);
    kill(0, SIGTSTP); /* the whole job, as the terminal would */
    sigaction(SIGTSTP, &ours, NULL);
    take(SIGCONT);
}

void signals_end(void) {
    if (!signals.active) return;
    alarm(0);
    sigaction(SIGALRM, &signals.before_alarm, NULL);
    for (size_t i = 0; i < SOFT_COUNT; i++) sigaction(soft[i], &signals.before_soft[i], NULL);
    leave_hard();
    signals.fd = -1;
    close(signals.pipe[0]);
    close(signals.pipe[1]);
    signals.pipe[0] = signals.pipe[1] = -1;
    signals.active = false;
}
