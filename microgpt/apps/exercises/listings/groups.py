def attend(q, keys, values):
    # q: [n_head, head_dim]; keys, values: [n_kv_head, length, head_dim]
    answers = []
    for head in range(n_head):
        kv_head = head % n_kv_head
        scores = keys[kv_head] @ q[head] / np.sqrt(head_dim)
        answers.append(softmax(scores) @ values[kv_head])
    return np.concatenate(answers)
