/**
 * A file system that passes everything to the one below it, records the operations, and injects
 * faults.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.recording.RecordingFileSystem} (how to use it, what
 * it sees and what it cannot), {@code Recorder} (places, faults, counts), {@code RecordingChannel}
 * (bytes), {@code NameOperations} over {@code NameSpace} (names), {@code RecordingProvider} (where
 * each call of the JDK goes).
 */
package org.revenantdb.chaos.recording;
