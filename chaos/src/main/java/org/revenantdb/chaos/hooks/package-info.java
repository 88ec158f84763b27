/**
 * The recorder for code that uses a real directory by any means: {@code java.io}, {@code java.nio},
 * mapped memory, native libraries. In a forked JVM it hooks the C library's file functions, or
 * receives the calls that an agent sees, and writes the same trace as the recording file system.
 *
 * <p>The protocol is in the README beside this package. Reading order: {@link
 * org.revenantdb.chaos.hooks.AnyRecorder} (the parent), {@link
 * org.revenantdb.chaos.hooks.HookedMain} (the forked JVM), {@code Hooks}, {@code Call}, {@code
 * Libc}, {@code ImportTables}, {@code Mappings}; {@code AgentFiles}, {@code SharedPages}; for both
 * {@code Journal}, {@code Tape}, {@code TraceBuilder}.
 */
package org.revenantdb.chaos.hooks;
