/* pthread.h -- what the runtime asks of pthreads, where there is one thread. */
#ifndef TARGET_BROWSER_PTHREAD_H
#define TARGET_BROWSER_PTHREAD_H

typedef int pthread_once_t, pthread_key_t, pthread_rwlock_t, pthread_mutex_t;
#define PTHREAD_ONCE_INIT          0
#define PTHREAD_MUTEX_INITIALIZER  0
#define PTHREAD_RWLOCK_INITIALIZER 0

static inline int pthread_once(pthread_once_t *once, void (*run)(void)) {
  if (!*once) run();
  *once = 1;
  return 0;
}
static inline int pthread_key_create(pthread_key_t *key, void (*destroy)(void *)) {
  (void)destroy;
  return *key = 0;
}
static inline int pthread_key_delete(pthread_key_t key) { return (void)key, 0; }
static inline int pthread_setspecific(pthread_key_t key, const void *value) {
  return (void)key, (void)value, 0;
}
static inline int pthread_mutex_init(pthread_mutex_t *lock, const void *how) {
  return (void)lock, (void)how, 0;
}
static inline int pthread_mutex_lock(pthread_mutex_t *lock) { return (void)lock, 0; }
static inline int pthread_mutex_unlock(pthread_mutex_t *lock) { return (void)lock, 0; }
static inline int pthread_rwlock_wrlock(pthread_rwlock_t *lock) { return (void)lock, 0; }
static inline int pthread_rwlock_rdlock(pthread_rwlock_t *lock) { return (void)lock, 0; }
static inline int pthread_rwlock_unlock(pthread_rwlock_t *lock) { return (void)lock, 0; }

#endif
